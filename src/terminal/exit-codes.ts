/** The exit codes of the command, documented in docs/reference/cli.md. They are part of the stable interface. */
export const exitCode = {
  done: 0,
  refused: 1,
  usage: 2,
  unavailable: 3,
  partly: 4,
  internal: 70,
  interrupted: 130,
} as const

/** The command cannot do the request; the message says why. Nothing was changed. */
export class CommandRefused extends Error {}

/** The command cannot run now; it may succeed later. */
export class CommandUnavailable extends Error {}

/** The command was called in a wrong way, or where it cannot work; the message says what to do. */
export class CommandMisused extends Error {}

/** Stopped by Ctrl-C before it was done; the message says how to go on. */
export class CommandInterrupted extends Error {}
