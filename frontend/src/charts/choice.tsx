// A row of radio buttons that looks like one: which of a few things is shown.
import { useId } from "preact/hooks";

export function Choice<Value extends string>(props: {
  label: string;
  options: readonly { value: Value; text: string }[];
  value: Value;
  onChange: (value: Value) => void;
}) {
  const name = useId();
  return (
    <fieldset class="choice">
      <legend>{props.label}</legend>
      {props.options.map((one) => (
        <label key={one.value}>
          <input
            type="radio"
            name={name}
            checked={one.value === props.value}
            onChange={() => props.onChange(one.value)}
          />
          <span>{one.text}</span>
        </label>
      ))}
    </fieldset>
  );
}
