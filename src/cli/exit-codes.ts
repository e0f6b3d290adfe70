/** How the process ends; `MillraceError.exitCode` gives the others (BSD's sysexits). */
export const EXIT_CODES = {
  /** Done. */
  ok: 0,
  /** A check found differences. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** Stopped by data. */
  data: 65,
  /** Kafka cannot be reached. */
  unreachable: 69,
  /** A fault of millrace itself. */
  internal: 70,
  /** Try again. */
  temporary: 75,
  /** Not allowed: authentication, ACLs. */
  notAllowed: 77,
  /** The configuration is wrong, or does not fit the cluster. */
  configuration: 78,
} as const
