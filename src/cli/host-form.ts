import type { Command } from 'commander'
import { z } from 'zod'
import { CommandMisused } from '../terminal/exit-codes.ts'
import type { HostForm } from './context.ts'

/** Adds the options with which a command works on the host. */
export function hostOptions(command: Command, { options }: HostForm): void {
  command.option('--tenant <id>', 'work on the host of the ledger instead, for this tenant')
  for (const [flags, help] of options) command.option(flags, help)
}

/**
 * Runs the command on the host when `--tenant` is given.
 * @returns whether it did
 * @throws CommandMisused when an option of the host is given without `--tenant`
 */
export async function ranOnHost(
  { options: known, load }: HostForm,
  args: readonly string[],
  options: Record<string, unknown>,
): Promise<boolean> {
  if (options.tenant !== undefined) {
    await (await load())(args, options)
    return true
  }
  for (const [flags] of known) {
    const name = flags.replace(/^--/, '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
    if (options[name] !== undefined)
      throw new CommandMisused(`${flags} works on the host: add --tenant <id>.`)
  }
  return false
}

/**
 * The options of a command that works on the host.
 * @param shape those that it knows besides `--tenant` and `--json`
 * @throws CommandMisused for an option that only a server understands
 */
export function hostOptionsIn<S extends z.ZodRawShape>(shape: S, given: Record<string, unknown>) {
  const known = z.strictObject({ tenant: z.string(), json: z.boolean().default(false), ...shape })
  const result = known.safeParse(given)
  if (result.success) return result.data
  const [unknown] = result.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys : [],
  )
  if (unknown === undefined) throw result.error
  const flag = `--${unknown.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  throw new CommandMisused(`${flag} is for a call to a server: leave out either ${flag} or --tenant.`)
}
