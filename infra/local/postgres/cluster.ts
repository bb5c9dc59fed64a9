import { spawn } from 'node:child_process'
import {
  appendFileSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Durability } from '../durability.ts'
import { LocalPostgresError, useAnotherPostgres } from '../errors.ts'
import { type Account, serverEnvironment } from './account.ts'
import type { Binaries } from './binaries.ts'
import { lastLines } from './log-file.ts'
import { isAlive } from './process-table.ts'

export type ClusterPlan = {
  readonly directory: string
  readonly binaries: Binaries
  readonly account: Account
  readonly durability: Durability
  readonly logFile: string
}

const draftName = /^data\.making-(\d+)$/

/**
 * Creates the cluster in `<directory>/data`, with an empty database `keyledger`, unless it exists. It is
 * created under another name and renamed when complete, so `data` is always a complete cluster, even after a
 * crash.
 *
 * @throws LocalPostgresError when creating it fails, or what exists is of another version or no cluster
 */
export async function ensureCluster(plan: ClusterPlan): Promise<void> {
  const data = join(plan.directory, 'data')
  if (isCluster(data, plan.binaries)) return
  removeAbandonedDrafts(plan.directory)
  const draft = join(plan.directory, `data.making-${process.pid}`)
  try {
    await initialize(plan, draft)
    await createDatabase(plan, draft)
    publish(draft, data)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

function isCluster(data: string, { majorVersion }: Binaries): boolean {
  if (!existsSync(data) || readdirSync(data).length === 0) return false
  if (!existsSync(join(data, 'PG_VERSION')) || !existsSync(join(data, 'global', 'pg_control'))) {
    throw new LocalPostgresError(
      `${data} is not empty and is not a complete Postgres cluster. Restore it from a backup or, ` +
        `if you do not need it, remove it.`,
    )
  }
  const found = readFileSync(join(data, 'PG_VERSION'), 'utf8').trim()
  if (found !== majorVersion) {
    throw new LocalPostgresError(
      `The cluster in ${data} was created by Postgres ${found}, but the embedded Postgres is version ` +
        `${majorVersion}. Start it with the keyledger version that created it and move its data with pg_dump, ${useAnotherPostgres}.`,
    )
  }
  return true
}

/** Removes the drafts of killed processes; those of running processes stay. */
function removeAbandonedDrafts(directory: string): void {
  for (const name of readdirSync(directory)) {
    const maker = draftName.exec(name)?.[1]
    if (maker === undefined || (Number(maker) !== process.pid && isAlive(Number(maker)))) continue
    rmSync(join(directory, name), { recursive: true, force: true, maxRetries: 3 })
  }
}

async function initialize(plan: ClusterPlan, making: string): Promise<void> {
  const args = ['-D', making, '--encoding=UTF8', '--locale=C', '--username=keyledger']
  // No connections until the roles exist.
  args.push('--auth=reject')
  if (plan.durability === 'none') args.push('--no-sync')
  await run(plan, plan.binaries.initdb, args)
}

/** Creates the database before the cluster gets its final name. */
async function createDatabase(plan: ClusterPlan, making: string): Promise<void> {
  await runStatements(plan, making, 'postgres', 'create database keyledger')
}

/**
 * Runs statements as the superuser of a stopped cluster in single-user mode, each in its own transaction. A
 * blank line separates statements.
 *
 * @throws ClusterInUse when a server or another process uses the cluster
 * @throws LocalPostgresError when one of them fails
 */
export async function runStatements(
  plan: ClusterPlan,
  data: string,
  database: string,
  statements: string,
): Promise<void> {
  const durable = plan.durability === 'full' ? 'on' : 'off'
  const settings = [`fsync=${durable}`, 'log_checkpoints=off'].flatMap((setting) => ['-c', setting])
  await run(plan, plan.binaries.postgres, ['--single', '-j', '-D', data, ...settings, database], statements)
}

/** A server, or another process that prepares the cluster, is using it. */
export class ClusterInUse extends Error {}

function publish(making: string, data: string): void {
  try {
    if (existsSync(data)) rmdirSync(data)
    renameSync(making, data)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    // Another process was faster; its cluster is equivalent.
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return
    throw error
  }
  const parent = openSync(join(data, '..'), 'r')
  fsyncSync(parent)
  closeSync(parent)
}

async function run(plan: ClusterPlan, program: string, args: string[], input = ''): Promise<void> {
  const command = plan.account.command(program, args)
  const child = spawn(command.file, command.args, {
    ...command.identity,
    cwd: '/',
    env: serverEnvironment(),
    stdio: 'pipe',
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  // A program that fails early closes its input; its output says why.
  child.stdin.on('error', () => undefined).end(input)
  const failure = await new Promise<string | undefined>((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('close', (code, signalName) =>
      resolve(code === 0 ? undefined : `it exited with ${signalName ?? code}`),
    )
  })
  if (/lock file ".*postmaster\.pid" already exists|is still in use/.test(output)) throw new ClusterInUse()
  appendFileSync(plan.logFile, output, { mode: 0o600 })
  // The single-user mode reports a failed statement but exits with 0.
  if (failure === undefined && !/^.*(ERROR|FATAL|PANIC): /m.test(output)) return
  throw new LocalPostgresError(
    `The Postgres cluster in ${plan.directory} could not be prepared (${failure ?? 'see below'}). ${advice(output)}` +
      `Its log is ${plan.logFile} and ends with:\n${lastLines(output)}`,
  )
}

/** Advice for a known line of Postgres' log, as a sentence followed by a blank; empty for others. */
export function advice(output: string): string {
  if (/No space left on device|Disk quota exceeded/.test(output)) {
    return 'The disk is full. Free up space and restart. '
  }
  if (/Input\/output error/.test(output)) {
    return 'The disk reports an error. Check the system log, and move the data to another disk. '
  }
  if (/Read-only file system/.test(output)) return 'The file system is read-only. '
  if (/could not create shared memory segment|Cannot allocate memory/.test(output)) {
    return 'The system refused to allocate memory. Free some memory, or raise the limit. '
  }
  return ''
}
