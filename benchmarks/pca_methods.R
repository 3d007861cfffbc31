# Bioconductor's pcaMethods behind a pipe: one line per task, "method, k, rows, columns, file read, file written"
# (tabs between); the files hold doubles column by column. Answers "done, seconds, iterations" or "failed, message".
# The clock runs inside R around the call alone.
suppressPackageStartupMessages(library(pcaMethods))

# pcaMethods does not tell how many iterations it took. Its ppca() solves once at the start and twice per iteration.
solves <- 0
counted <- quote(assign("solves", solves + 1, envir = globalenv()))
invisible(suppressMessages(capture.output(trace("solve", counted, print = FALSE, where = baseenv()))))

answer <- function(...) {
  cat(..., sep = "\t")
  cat("\n")
  flush(stdout())
}

tasks <- file("stdin", open = "r")
answer("ready", paste(packageVersion("pcaMethods")), paste(getRversion()))
while (length(line <- readLines(tasks, n = 1)) == 1) {
  task <- strsplit(line, "\t")[[1]]
  n <- as.integer(task[3])
  p <- as.integer(task[4])
  X <- matrix(readBin(task[5], "double", n * p), n, p)
  X[is.nan(X)] <- NA
  set.seed(1)
  solves <- 0
  problem <- try({
    seconds <- system.time(found <- pca(X, method = task[1], nPcs = as.integer(task[2])))[["elapsed"]]
    writeBin(as.vector(completeObs(found)), task[6])
    answer("done", seconds, if (task[1] == "ppca") (solves - 1) / 2 else "")
  }, silent = TRUE)
  if (inherits(problem, "try-error")) answer("failed", gsub("[\t\n]", " ", problem))
}
