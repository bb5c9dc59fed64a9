import { exitCode } from '../terminal/exit-codes.ts'

/** Ends the process when its parent has died: another server may already do the same. */
export function endWithParent(): void {
  process.once('disconnect', () => process.exit(exitCode.unavailable))
  process.channel?.unref()
}
