"""Networks: layers, rows in batches, gradients, training.

Its files, in reading order::

    network   A network of dense layers in NumPy: its shape, forward passes and derivatives, codes refined by
              Gauss–Newton steps.
    rows      Rows as a network is trained on them: centred, scaled, in shuffled batches, some set aside.
    training  Training a network, whatever computes its gradients: its state, the learning rate, when it has converged;
              L-BFGS over all rows; and linear networks, by alternating least squares.
    torch     Gradients of a network by PyTorch: epochs of Adam, and the whole gradient of all rows. The only file that
              loads it.
"""
