import numpy as np

from lowdim.datasets import decathlon, us_arrests


def test_arrests_are_r_s():
    states = us_arrests()
    assert states.rows[0] == "Alabama"
    assert states.rows[-1] == "Wyoming"
    # R: colMeans(USArrests), exactly
    np.testing.assert_allclose(states.values.mean(axis=0), [7.788, 170.76, 65.54, 21.232], rtol=1e-14)


def test_decathlon_adds_up():
    athletes = decathlon()
    assert athletes.columns[0] == "100 m"
    assert athletes.columns[-1] == "Points"
    assert np.unique(athletes.labels, return_counts=True)[1].tolist() == [13, 28]
    at_games = athletes.values[athletes.labels == "OlympicG"]
    assert at_games[:, 10].tolist() == list(range(1, 29))
    assert (np.diff(at_games[:, 11]) < 0).all()  # the ranks are those of the points
    assert athletes.rows[athletes.values[:, 11].argmax()] == "Sebrle"
