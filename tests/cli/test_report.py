"""`lowdim report` at the prompt."""

import json
import runpy
import subprocess
import sys

import numpy as np
import pytest

import lowdim
from lowdim.cli.errors import USAGE
from lowdim.cli.main import main
from lowdim.views.files.pictures import write_picture
from reports import numbers, section, told


@pytest.fixture
def wine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["datasets", "wine", "-o", "wine.csv", "-q"]) == 0
    return tmp_path


def run_lines(page):
    """Run the lines of Python that a page gives, where we are, as a program that knows nothing of ours."""
    with open("lines.py", "w") as file:
        file.write(page["made"]["python"])
    runpy.run_path("lines.py", run_name="__main__")


def test_data_are_fitted_and_shown(wine, capsys):
    given = ["report", "wine.csv", "--scale", "--keep", "3", "--color", "label", "-o", "wine.html"]
    assert main(given) == 0
    page = told(wine / "wine.html")
    data = lowdim.datasets.wine()
    model = lowdim.PCA(3, scale=True).fit(data.values)
    assert np.allclose(numbers(page["rows"]["scores"]), model.transform(data.values), atol=1e-5)
    assert sorted(page["rows"]["colours"][0]["levels"]) == ["class_0", "class_1", "class_2"]
    assert page["made"]["cli"] == "lowdim " + " ".join(given)
    assert {"Minka", "BIC", "90 % share"} <= {one["title"] for one in page["spectrum"]["rules"]}
    assert "wine.html: a page of PCA, about" in capsys.readouterr().err


def test_the_lines_of_python_make_the_same_page(wine):
    assert (
        main(["report", "wine.csv", "--keep", "2", "--drop", "ash", "--names", "label", "-o", "wine.html", "-q"]) == 0
    )
    first = told(wine / "wine.html")
    (wine / "wine.html").unlink()
    subprocess.run([sys.executable, "-c", first["made"]["python"]], check=True, cwd=wine)
    again = told(wine / "wine.html")
    assert again["rows"] == first["rows"]
    assert again["columns"] == first["columns"]
    assert again["spectrum"] == first["spectrum"]
    assert again["rows"]["names"][0] == "class_0"


def test_a_model_file_with_and_without_rows(wine, capsys):
    assert main(["fit", "wine.csv", "--scale", "--keep", "2", "--save", "wine.lowdim", "-q"]) == 0
    assert main(["report", "wine.lowdim", "--data", "wine.csv", "-o", "with.html", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["output"] == "with.html"
    assert facts["rows_shown"]
    assert main(["report", "wine.lowdim", "-o", "alone.html"]) == 0
    with_rows, alone = told(wine / "with.html"), told(wine / "alone.html")
    assert alone["rows"] is None
    assert alone["columns"] == with_rows["columns"]
    assert "lowdim.load('wine.lowdim')" in alone["made"]["python"]


def test_measured_responses_are_found_by_name(wine):
    assert main(["regress", "wine.csv", "--target", "alcohol", "--save", "r.lowdim", "-q"]) == 0
    assert main(["report", "r.lowdim", "--data", "wine.csv", "-o", "r.html", "-q"]) == 0
    points = section(told(wine / "r.html"), "regression")["targets"][0]["points"]
    assert np.allclose(numbers(points["measured"]), lowdim.datasets.wine().values[:, 0], rtol=1e-6)
    assert not points["heldOut"]  # a file does not keep what was predicted of rows held out


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["wine.csv"], "-o wine.html"),
        (["wine.csv", "-o", "page.pdf"], ".html"),
        (["wine.csv", "-o", "page.html", "--data", "wine.csv"], "is data already"),
        (["wine.csv", "-o", "page.html", "--color", "nothing"], "there is no column 'nothing'"),
        (["wine.csv", "-o", "page.html", "--picture", "3x3"], "13 numbers"),
        (["wine.csv", "-o", "page.html", "--model", "nothing"], "no such model"),
    ],
)
def test_nothing_is_written_when_something_is_wrong(wine, capsys, given, words):
    assert main(["report", *given]) == USAGE
    assert words in capsys.readouterr().err
    assert [path.name for path in wine.iterdir()] == ["wine.csv"]


def test_a_model_file_takes_no_settings_of_a_fit(wine, capsys):
    assert main(["fit", "wine.csv", "--save", "wine.lowdim", "-q"]) == 0
    assert main(["report", "wine.lowdim", "-o", "page.html", "--scale"]) == USAGE
    assert "fitted already" in capsys.readouterr().err


def test_a_page_without_the_datas_own_numbers(wine):
    assert main(["report", "wine.csv", "--keep", "2", "--no-values", "-o", "wine.html", "-q"]) == 0
    page = told(wine / "wine.html")
    assert page["rows"]["values"] is None
    assert "values=False" in page["made"]["python"]


def test_the_page_of_a_comparison_can_be_made_again(wine):
    given = ["compare", "wine.csv", "-k", "2", "--models", "pca,vq", "--drop", "ash", "--report", "two.html", "-q"]
    assert main(given) == 0
    first = told(wine / "two.html")
    assert first["made"]["cli"] == "lowdim " + " ".join(given)
    (wine / "two.html").unlink()
    run_lines(first)
    errors = [[row[:3] for row in section(one, "table")["rows"]] for one in (first, told(wine / "two.html"))]
    assert errors[0] == errors[1]


def test_the_pages_of_pictures_can_be_made_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows, columns = np.mgrid[0:24, 0:24]
    write_picture("grey.png", np.rint(128 + 70 * np.sin((rows + columns) / 3)).astype(np.uint8))
    write_picture("mask.png", np.where(np.random.default_rng(0).random((24, 24)) < 0.2, 255, 0).astype(np.uint8))
    fast = ["--method", "ppca", "--patch", "4", "--sigma", "2", "-q", "--report", "page.html"]
    for given in (["inpaint", "grey.png", "--mask", "mask.png"], ["denoise", "grey.png", "-o", "clean.png"]):
        assert main([*given, *fast]) == 0
        first = told(tmp_path / "page.html")
        (tmp_path / "page.html").unlink()
        run_lines(first)
        assert told(tmp_path / "page.html")["sections"] == first["sections"]


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # the lines leave closing of the stop words to Python
def test_the_page_of_topics_can_be_made_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = ["cats purr and sleep", "dogs bark and run", "cats sleep and purr", "dogs run and bark"] * 5
    (tmp_path / "pets.jsonl").write_text("".join(json.dumps({"text": one}) + "\n" for one in texts))
    (tmp_path / "stop.txt").write_text("and\n")
    given = ["topics", "pets.jsonl", "--keep", "2", "--stop-words", "stop.txt", "--held-out", "0", "--max-df", "0.9"]
    assert main([*given, "--report", "pets.html", "-q"]) == 0
    first = told(tmp_path / "pets.html")
    (tmp_path / "pets.html").unlink()
    run_lines(first)
    assert told(tmp_path / "pets.html")["sections"] == first["sections"]
    assert "(10 texts)" in first["lead"]


def test_a_page_must_end_in_html_before_any_work(wine, capsys):
    assert main(["compare", "wine.csv", "-k", "2", "--report", "page.pdf"]) == USAGE
    assert "must end in .html" in capsys.readouterr().err
    assert [path.name for path in wine.iterdir()] == ["wine.csv"]


@pytest.mark.parametrize("model", ["ppca", "kernel", "vq", "nmf"])
def test_every_kind_of_model_has_a_page_of_a_table(run, wine, model):
    ended = run("report", "wine.csv", "--label", "label", "--model", model, "--keep", 2, "-o", "page.html")
    assert (ended.code, "a page of" in ended.err) == (0, True)
