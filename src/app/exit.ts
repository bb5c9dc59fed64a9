import { CommanderError } from 'commander'
import { LocalStackError } from '../../infra/local/errors.ts'
import { MigrationNotAllowed } from '../../projections/database/migrate.ts'
import { RestoreUnfinished } from '../../projections/database/restoring.ts'
import { ScratchInUse } from '../../projections/runner/replay.ts'
import { BackupError, TargetNotEmpty } from '../backup/errors.ts'
import { isStoreFailure } from '../commands/store-failure.ts'
import { ConfigError } from '../config.ts'
import { Refusal } from '../domain/refusal.ts'
import { problemOfProvider } from '../http/errors.ts'
import { Problem, problemOfRefusal } from '../http/problem.ts'
import { EventStoreRefused } from '../ledger/connection/refused-at-start.ts'
import { LedgerFrozen } from '../ledger/connection/unavailable.ts'
import { WrongLog } from '../ledger/log-check.ts'
import { ProviderRefused, ProviderUnavailable } from '../payments/errors.ts'
import { CommandMisused, CommandRefused, CommandUnavailable, exitCode } from '../terminal/exit-codes.ts'
import { printToStderr } from '../terminal/output.ts'
import { WrongMasterKey } from '../vault/master-key.ts'
import { StateUnreadable } from '../verdicts/errors.ts'

/**
 * Prints to stderr what is wrong and how to fix it. Only internal errors include a stack trace.
 * @returns the exit code
 */
export function reportFailure(error: unknown): number {
  const { message, code } = failureOf(error)
  if (message !== undefined) printToStderr(message)
  return code
}

/**
 * The message for the operator, and the exit code. Commander prints its own errors, so those have no message here.
 */
export function failureOf(error: unknown): { message: string | undefined; code: number } {
  if (error instanceof CommanderError)
    return { message: undefined, code: error.exitCode === 0 ? exitCode.done : exitCode.usage }
  if (error instanceof Refusal) return ofProblem(problemOfRefusal(error.code))
  if (error instanceof Problem) return ofProblem(error)
  if (error instanceof ProviderUnavailable || error instanceof ProviderRefused)
    return ofProblem(problemOfProvider(error))
  if (isRefused(error)) return { message: error.message, code: exitCode.refused }
  if (error instanceof ConfigError || error instanceof CommandMisused || error instanceof WrongMasterKey)
    return { message: error.message, code: exitCode.usage }
  if (
    error instanceof CommandUnavailable ||
    error instanceof StateUnreadable ||
    error instanceof LocalStackError ||
    error instanceof MigrationNotAllowed ||
    error instanceof EventStoreRefused ||
    error instanceof WrongLog ||
    error instanceof ScratchInUse
  ) {
    return { message: error.message, code: exitCode.unavailable }
  }
  if (error instanceof LedgerFrozen) {
    const message = 'The ledger is frozen and nothing was changed. To end the freeze: keyledger unfreeze'
    return { message, code: exitCode.unavailable }
  }
  if (isStoreFailure(error))
    return { message: `A store does not respond: ${messageOf(error)}`, code: exitCode.unavailable }
  return {
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    code: exitCode.internal,
  }
}

const isRefused = (error: unknown): error is Error =>
  error instanceof CommandRefused ||
  error instanceof BackupError ||
  error instanceof TargetNotEmpty ||
  error instanceof RestoreUnfinished

/** 503 and 429 mean "try again"; every other refusal would be repeated. */
const ofProblem = ({ status, message }: Problem) => ({
  message,
  code: status === 503 || status === 429 ? exitCode.unavailable : exitCode.refused,
})

function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}
