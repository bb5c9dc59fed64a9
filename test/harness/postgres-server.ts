import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { z } from 'zod'
import { createDatabaseOn, type TestDatabase } from './database.ts'
import { openEmptyReadModels } from './empty-read-models.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A Postgres on which tests may create databases: see `createTestDatabase`. */
    postgresUrl: string
    /** The name of a template database with empty tables. */
    ledgerTemplate: string
  }
}

const Ready = z.object({ url: z.string() })

/**
 * Provides one Postgres for the whole test run: that of KEYLEDGER_TEST_DATABASE_URL, whose user may create
 * databases, or an embedded one in a temporary directory that is removed afterwards.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.KEYLEDGER_TEST_DATABASE_URL
  if (given) {
    const template = await provide(project, given)
    return () => template.drop()
  }
  const { guardian, url } = await startGuardian()
  await provide(project, url)
  return async () => {
    const exited = once(guardian, 'exit')
    guardian.stdin?.end()
    await exited
  }
}

async function provide(project: TestProject, url: string): Promise<TestDatabase> {
  const template = await createDatabaseOn(url)
  const db = await openEmptyReadModels(template.url)
  await db.end()
  project.provide('postgresUrl', url)
  project.provide('ledgerTemplate', template.name)
  return template
}

/** In its own process group: Ctrl-C ends the test run, and the guardian ends with it. */
async function startGuardian(): Promise<{ guardian: ChildProcess; url: string }> {
  const script = fileURLToPath(new URL('postgres-guardian.ts', import.meta.url))
  const guardian = spawn(process.execPath, [script], { detached: true, stdio: ['pipe', 'pipe', 'inherit'] })
  return { guardian, url: await firstLine(guardian.stdout) }
}

async function firstLine(output: Readable): Promise<string> {
  for await (const line of createInterface({ input: output })) return Ready.parse(JSON.parse(line)).url
  throw new Error('The Postgres for the tests did not start: its message stands above')
}
