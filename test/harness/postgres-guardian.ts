/**
 * Runs a temporary Postgres until its standard input ends, which happens with the process at the other end, however
 * that ends. So even a killed test run leaves nothing behind.
 */
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startPostgres } from '../../infra/local/postgres/postgres.ts'
import { memoryDirectory } from './memory-directory.ts'

const directory = mkdtempSync(join(memoryDirectory(), 'keyledger-test-postgres-'))
process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
const inputEnded = once(process.stdin.resume(), 'end')

const postgres = await startPostgres({ directory: join(directory, 'postgres'), durability: 'none' })
process.stdout.write(`${JSON.stringify({ url: await letTestsIn() })}\n`)
await inputEnded
await postgres.stop()

/**
 * Tests create databases, which the product's roles may not. Their role is no superuser either, so that operations
 * which need one fail here and not only in production.
 */
async function letTestsIn(): Promise<string> {
  const socketDirectory = join(directory, 'postgres', 'socket')
  appendFileSync(join(directory, 'postgres', 'data', 'pg_hba.conf'), 'local all keyledger,tester trust\n')
  process.kill(postgres.pid, 'SIGHUP')
  for (;;) {
    const superuser = new pg.Client({ host: socketDirectory, user: 'keyledger', database: 'postgres' })
    superuser.on('error', () => undefined)
    try {
      await superuser.connect()
      await superuser.query('create role tester login createdb')
      return `postgresql://tester@/postgres?host=${encodeURIComponent(socketDirectory)}`
    } catch (error) {
      // Postgres rereads its configuration asynchronously.
      if (!(error instanceof pg.DatabaseError) || error.code !== '28000') throw error
      await sleep(20)
    } finally {
      await superuser.end()
    }
  }
}
