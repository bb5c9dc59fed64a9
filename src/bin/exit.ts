import { CommanderError } from 'commander'
import { LocalStackError } from '../../infra/local/stack/error.ts'
import { isDatabaseTrouble } from '../../projections/database/trouble.ts'
import { ReadModelsBehind } from '../../projections/runner/read-models.ts'
import { ScratchInUse } from '../../projections/runner/replay.ts'
import { ConfigError } from '../config.ts'
import { Refusal } from '../domain/refusal.ts'
import { Problem, problemOfRefusal } from '../http/problem.ts'
import { LedgerUnavailable } from '../ledger/unavailable.ts'
import { WrongMasterKey } from '../vault/check.ts'

/** How the command ends; described in docs/reference/cli.md, and as stable as the interfaces. */
export const exitCode = { done: 0, refused: 1, usage: 2, unavailable: 3, internal: 70 } as const

/** The command cannot do what was asked, and says why; nothing was changed. */
export class CommandRefused extends Error {}

/** Says on stderr what is wrong and how to mend it, without a stack trace unless it is our own fault. */
export function reportFailure(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : exitCode.usage
  if (error instanceof Refusal) return say(problemOfRefusal(error.code).message, exitCode.refused)
  if (error instanceof CommandRefused || error instanceof Problem || error instanceof ScratchInUse)
    return say(error.message, exitCode.refused)
  if (error instanceof ConfigError || error instanceof WrongMasterKey)
    return say(error.message, exitCode.usage)
  if (error instanceof Problem && error.status === 503) return say(error.message, exitCode.unavailable)
  if (error instanceof LocalStackError) return say(error.message, exitCode.unavailable)
  if (error instanceof LedgerUnavailable || error instanceof ReadModelsBehind || isDatabaseTrouble(error)) {
    return say(`A store does not answer: ${messageOf(error)}`, exitCode.unavailable)
  }
  return say(error instanceof Error ? (error.stack ?? error.message) : String(error), exitCode.internal)
}

function say(message: string, code: number): number {
  process.stderr.write(`${message}\n`)
  return code
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}
