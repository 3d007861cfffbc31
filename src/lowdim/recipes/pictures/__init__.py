"""Pictures restored: noise taken off, missing pixels filled.

Patches are modelled by Gaussians: those of PPCAMixture's solvers.

Its files, in reading order::

    picture           A picture to work on, as real numbers on its own scale, and what `denoise` and `inpaint` give
                      back.
    denoise           A picture without its noise: by groups of patches, by a PCA of all, or by a mixture of them.
    inpaint           Missing pixels of a picture, filled with what the patches around them and like them say.
    noise             How strong the noise of a picture is: white noise shows in the directions of patch space that
                      the picture leaves.
    missing_pixels    Which pixels are missing, and a first, smooth value for each.
    patches           Overlapping square patches of a picture: cut out as rows, laid back as means, worked on in
                      strips.
    patch_models      Gaussian models of the patches of a picture with missing pixels: of all, or of those most alike.
    plain_patches     What the compiled loops over patches do, in NumPy: for machines without them, and to hold them
                      against.
    compiled_patches  Compiled loops over patches: distances, groups, and patches filled by those most like them.
    uncertainty       How sure restored pixels are: calibrated on held-out ones, far from observed ones, and with
                      split noise.
    overview          The page of a picture before and after: noise taken off, or holes filled.
"""
