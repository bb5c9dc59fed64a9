// Guarantee: a gated command executes nothing before another person has approved it, whatever its options are; it
// waits, finishes, and can be resumed after an interruption.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { approve, deny } from '../../../src/gate/approvals.ts'
import { createHost } from '../../harness/process.ts'
import { createMachine, type Machine } from './machine.ts'
import { confirmationIn, openTestServer, type TestServer } from './server.ts'

const host = createHost()
let server: TestServer
let machine: Machine
beforeAll(async () => {
  server = await openTestServer()
  machine = createMachine(host, { KEYLEDGER_SERVER: server.address, KEYLEDGER_TOKEN: server.tenant.token })
  await machine.run('products', 'create', '--name', 'Editor', '--id', 'editor')
})

const Shown = z.object({ license: z.object({ id: z.string(), status: z.string() }) })
const approver = { requestId: 'req_approver', actor: 'member:mem_2' }
const mint = async () => (await machine.json(Shown, 'licenses', 'create', '--product', 'editor')).license.id
const statusOf = async (id: string) => (await machine.json(Shown, 'licenses', 'show', id)).license.status

test('it prints where to approve, waits, and finishes', async () => {
  const id = await mint()
  const revoking = machine.start('licenses', 'revoke', id, '--reason', 'chargeback', '--yes', '--json')
  const confirmation = await confirmationIn(revoking)
  expect(revoking.stderr()).toContain(`${server.address}/dashboard/`)
  expect(await statusOf(id)).toBe('active')
  await approve(server.api.ledger.ports, server.tenant.tenantId, confirmation, approver)
  const { code, stdout } = await revoking.finished
  expect(code).toBe(0)
  expect(Shown.parse(JSON.parse(stdout)).license).toStrictEqual({ id, status: 'revoked' })
})

test('--yes answers the question and not the approval; without it, a command without a terminal asks nobody', async () => {
  const id = await mint()
  const unasked = await machine.run('licenses', 'revoke', id)
  expect(unasked).toMatchObject({ code: 2, stdout: '' })
  expect(unasked.stderr).toBe(
    'Revoke this license permanently? There is no terminal to answer it at: add --yes.\n',
  )
  const revoking = machine.start('licenses', 'revoke', id, '--yes')
  const confirmation = await confirmationIn(revoking)
  await deny(server.api.ledger.ports, server.tenant.tenantId, confirmation, approver)
  expect(await revoking.finished).toMatchObject({ code: 1, stdout: '' })
  expect(revoking.stderr()).toContain(`Confirmation ${confirmation} was denied. Nothing was changed.`)
  expect(await statusOf(id)).toBe('active')
})

test('after Ctrl-C the same command goes on', async () => {
  const id = await mint()
  const revoking = machine.start('licenses', 'revoke', id, '--reason', "it's over", '--yes')
  const confirmation = await confirmationIn(revoking)
  const { code, stderr } = await revoking.end('SIGINT')
  expect(code).toBe(130)
  expect(stderr).toContain(`keyledger confirmations resume ${confirmation}`)
  expect(stderr).toContain(
    `keyledger licenses revoke ${id} --reason 'it'\\''s over' --yes --confirmation ${confirmation}`,
  )
  const kept = join(machine.home, '.config/keyledger/pending.json')
  expect(statSync(kept).mode & 0o777).toBe(0o600)
  expect(readFileSync(kept, 'utf8')).toContain(confirmation)

  await approve(server.api.ledger.ports, server.tenant.tenantId, confirmation, approver)
  const resumed = await machine.run('confirmations', 'resume', confirmation)
  expect(resumed).toMatchObject({ code: 0, stderr: '' })
  expect(resumed.stdout).toContain('status: revoked')
  expect(readFileSync(kept, 'utf8')).not.toContain(confirmation)
  const again = await machine.run('confirmations', 'resume', confirmation)
  expect(again.stderr).toContain(`No command of this machine waits for ${confirmation}.`)
})

test('another machine uses the confirmation with the same command, once', async () => {
  const id = await mint()
  const first = machine.start('licenses', 'revoke', id, '--yes')
  const confirmation = await confirmationIn(first)
  await first.end('SIGINT')
  await approve(server.api.ledger.ports, server.tenant.tenantId, confirmation, approver)
  const other = createMachine(host, {
    KEYLEDGER_SERVER: server.address,
    KEYLEDGER_TOKEN: server.tenant.token,
  })
  const command = ['licenses', 'revoke', id, '--yes', '--confirmation', confirmation]
  expect(await other.run(...command)).toMatchObject({ code: 0 })
  expect(await other.run(...command)).toMatchObject({ code: 1, stdout: '' })
})

test('api waits for an approval too', async () => {
  const id = await mint()
  const revoking = machine.start('api', 'POST', `/v1/licenses/${id}/revoke`)
  await server.approveFor(revoking)
  const { code, stdout } = await revoking.finished
  expect(code).toBe(0)
  expect(Shown.parse(JSON.parse(stdout)).license.status).toBe('revoked')
})
