// Guarantee: a server with a time for the audit compares the log with what was signed by itself, and says what it found.
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createHost, type Running } from '../harness/process.ts'

const host = createHost()

test('a server audits the log, and reports a changed leaf', async () => {
  const { environment: stores, databaseUrl } = await host.stores()
  expect(await host.run(['init', '--tenant', 'acme'], stores)).toMatchObject({ code: 0 })
  const environment = { ...stores, KEYLEDGER_AUDIT_VERIFY_AT: '03:30' }
  const session = new pg.Client({ connectionString: databaseUrl })
  await session.connect()
  onTestFinished(() => session.end())

  const server = await host.serve(stores)
  await expect
    .poll(async () => (await session.query('select from notary.checkpoint where size > 1')).rowCount)
    .toBe(1)
  await server.end('SIGTERM')
  const { code, stdout } = await host.run(['audit', 'verify'], environment)
  expect(stdout).toMatch(/^All \d+ events are as they were hashed\. The last signed checkpoint, of .*\n$/)
  expect(code).toBe(0)

  const auditing = await host.serve(environment)
  await expect.poll(() => said(auditing, 'audit.clean')).toBe(true)
  await auditing.end('SIGTERM')

  // A day later, somebody has changed the tree.
  await session.query(`update notary.audits set started_at = started_at - interval '1 day'`)
  await session.query(`update notary.tiles set hashes = set_byte(hashes, 0, get_byte(hashes, 0) # 1)`)
  const next = await host.serve(environment)
  await expect.poll(() => said(next, 'audit.problems')).toBe(true)
  await next.end('SIGTERM')
  expect(next.stderr()).toContain('the log is the one that was signed')
  const { rows } = await session.query<{ problems: number }>(
    `select jsonb_array_length(report -> 'problems') as problems from notary.audits order by started_at desc limit 1`,
  )
  expect(rows[0]?.problems).toBeGreaterThan(0)
})

const said = ({ stderr }: Running, message: string): boolean => stderr().includes(`"msg":"${message}"`)
