/**
 * A process that starts Postgres on a directory and reports it in one line of JSON. It stops Postgres when its
 * input ends, but not when it is killed. For tests that kill a process, or need another user.
 */
import { once } from 'node:events'
import { startPostgres } from '../../../infra/local/postgres/postgres.ts'

const [directory = ''] = process.argv.slice(2)
try {
  const { url, pid, adopted, stop } = await startPostgres({ directory, durability: 'none' })
  process.stdout.write(`${JSON.stringify({ url, pid, adopted })}\n`)
  await once(process.stdin.resume(), 'end')
  await stop()
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: (error as Error).message })}\n`)
}
