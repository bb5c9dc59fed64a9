/**
 * Runs one throw-away Postgres for as long as its standard input stays open: that ends with the process which
 * holds the other end, however that process ends. So nothing is left behind, not even by a killed test run.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../../infra/local/postgres/postgres.ts'

const directory = mkdtempSync(join(tmpdir(), 'keyledger-test-postgres-'))
process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
const inputEnded = once(process.stdin.resume(), 'end')

const postgres = await startPostgres({ directory: join(directory, 'postgres'), durability: 'none' })
process.stdout.write(`${JSON.stringify({ url: postgres.url })}\n`)
await inputEnded
await postgres.stop()
