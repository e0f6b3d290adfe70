/** How the process ends; `MillraceError.exitCode` gives the others (BSD's sysexits). */
export const EXIT_CODES = {
  /** Done. */
  ok: 0,
  /** A check found differences. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** Brokers that had to be asked did not answer: what is shown is a part. Same as `BROKER_UNREACHABLE`. */
  incomplete: 69,
} as const
