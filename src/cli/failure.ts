import { CommanderError } from 'commander'
import { NotInPath } from '../description/path.ts'
import { NumberInvalid } from '../numbers.ts'
import {
  CommandInterrupted,
  CommandMisused,
  CommandRefused,
  CommandUnavailable,
  exitCode,
} from '../terminal/exit-codes.ts'
import { inJson, printToStderr } from '../terminal/output.ts'
import { RemoteError } from './remote/errors.ts'

/** Without a message: it was printed already. */
type Failure = {
  message: string | undefined
  code: number
  status?: number
  requestId?: string | undefined
}

/**
 * Prints to stderr what is wrong and how to fix it.
 * @param asJson as one JSON value, for programs
 * @returns the exit code
 */
export async function reportError(error: unknown, asJson: boolean): Promise<number> {
  // The other file is loaded only when it is needed, because it knows the errors of every store.
  const failure: Failure = failureOf(error) ?? (await import('../app/exit.ts')).failureOf(error)
  const { message, code } = failure
  if (code === exitCode.done) return code
  if (asJson) {
    const { status, requestId }: Partial<Failure> = failure
    printToStderr(
      inJson({ error: message ?? null, exitCode: code, ...(status !== undefined && { status, requestId }) }),
    )
  } else if (message !== undefined && !(error instanceof CommanderError)) printToStderr(message)
  return code
}

function failureOf(error: unknown): Failure | undefined {
  if (error instanceof CommanderError) {
    const message = error.message.replace(/^error: /, '')
    return { message, code: error.exitCode === 0 ? exitCode.done : exitCode.usage }
  }
  if (error instanceof RemoteError) return error
  if (error instanceof CommandRefused) return { message: error.message, code: exitCode.refused }
  if (error instanceof CommandMisused || error instanceof NotInPath || error instanceof NumberInvalid)
    return { message: error.message, code: exitCode.usage }
  if (error instanceof CommandUnavailable) return { message: error.message, code: exitCode.unavailable }
  if (error instanceof CommandInterrupted) return { message: error.message, code: exitCode.interrupted }
  return undefined
}
