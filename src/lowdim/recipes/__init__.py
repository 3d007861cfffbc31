"""Jobs made of models: pictures without their noise or their holes, sparse solutions with a proof."""
