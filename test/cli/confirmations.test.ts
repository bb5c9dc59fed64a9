// Guarantee: an operator without a browser can list pending confirmations and decide them under a recorded name;
// with --json as one JSON value, with exit code 0 when done, 1 when refused, 2 when used incorrectly.
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { client, createVendor } from '../flows/vendor.ts'
import { createHost, type Environment, type Finished, type Server } from '../harness/process.ts'

const host = createHost()
let environment: Environment
let server: Server
let token: string
beforeAll(async () => {
  ;({ environment } = await host.stores())
  server = await host.serve(environment)
  token = await createVendor(environment)
  await client(server.address, token).createProduct(2)
})

const keyledger = (...args: string[]): Promise<Finished> => host.run(['confirmations', ...args], environment)
const Confirmation = z.looseObject({ id: z.string(), status: z.string(), decidedBy: z.string().nullable() })
const show = (id: string) => host.json(Confirmation, ['confirmations', 'show', id], environment)

async function asked(): Promise<{ licenseId: string; id: string }> {
  const vendor = client(server.address, token)
  const { licenseId, licenseKey } = await vendor.mint({ email: 'ada@example.com' })
  await vendor.activate(licenseKey, 'laptop')
  const { body } = await vendor.send('POST', `/v1/licenses/${licenseId}/revoke`, { reason: 'stolen' })
  const { confirmation } = z.object({ confirmation: z.object({ id: z.string() }) }).parse(body)
  return { licenseId, id: confirmation.id }
}

test('pending confirmations are listed and shown in plain words', async () => {
  expect(await keyledger('list', '--tenant', 'nobody')).toMatchObject({
    code: 0,
    stdout: 'No pending confirmations.\n',
  })
  const { licenseId, id } = await asked()
  const summary = /Revoke EDITOR….{4} of ada@example\.com, a license for “Editor”/
  const listed = await keyledger('list')
  expect(listed.stdout).toMatch(/^CONFIRMATION +TENANT +LEFT +TOKEN +WHAT\n/)
  expect(listed.stdout).toMatch(new RegExp(`^${id} +acme +\\d+ s +test +${summary.source}$`, 'm'))
  const shown = await keyledger('show', id)
  expect(shown).toMatchObject({ code: 0, stderr: '' })
  expect(shown.stdout.split('\n')).toStrictEqual([
    expect.stringMatching(summary),
    '  Reason given by the requester: “stolen”',
    '',
    'It would change now:',
    expect.stringMatching(/^ {2}- License EDITOR….{4} goes from active to revoked$/),
    '  - 1 device loses its seat: “laptop”',
    '  - Its key stops validating at once',
    '  - 1 license loses “pro”',
    'The same as when it was requested.',
    '',
    expect.stringMatching(/^status +pending, \d+ s left$/),
    expect.stringMatching(`^request +POST /v1/licenses/{id}/revoke {"id":"${licenseId}"}$`),
    expect.stringMatching(/^tenant +acme$/),
    expect.stringMatching(/^token +test \(tok_\w+\)$/),
    expect.stringMatching(/^from +(::1|127\.0\.0\.1|::ffff:127\.0\.0\.1), node$/),
    expect.stringMatching(/^requested +\d{4}-.*Z$/),
    '',
  ])
  const all = await host.json(z.array(Confirmation), ['confirmations', 'list'], environment)
  expect(all.map((entry) => entry.id)).toStrictEqual([id])
  expect(await show(id)).toMatchObject({
    id,
    status: 'pending',
    description: { summary: expect.stringMatching(summary) as string },
    expiresInSeconds: expect.any(Number) as number,
  })
})

test('approve --as records the name, and the request is then executed', async () => {
  const { licenseId, id } = await asked()
  expect(await keyledger('approve', id, '--as', 'grace')).toMatchObject({
    code: 0,
    stdout: `Confirmation ${id} is approved by operator:grace.\n`,
  })
  const response = await fetch(`${server.address}/v1/licenses/${licenseId}/revoke`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'x-service-confirmation': id,
    },
    body: JSON.stringify({ reason: 'stolen' }),
  })
  expect(response.status).toBe(200)
  const shown = await keyledger('show', id)
  expect(shown.stdout).toMatch(/^Revoke a license\n\nstatus +executed, approved by operator:grace at \S+Z\n/)
  expect(await keyledger('deny', id)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'the confirmation was already used; send the request without it to get a new one\n',
  })
})

test('deny without a name records the user of the host, and is final', async () => {
  const { id } = await asked()
  const denied = await host.json(Confirmation, ['confirmations', 'deny', id], environment)
  expect(denied).toMatchObject({
    id,
    status: 'denied',
    decidedBy: expect.stringMatching(/^operator:.+/) as string,
  })
  expect(await keyledger('approve', id)).toMatchObject({
    code: 1,
    stderr: 'the confirmation was denied\n',
  })
})

test.each([
  [['show', 'cnf_00000000000000000000000000'], 1, 'confirmation not found'],
  [['approve', 'nonsense'], 1, 'confirmation not found'],
  [
    ['approve', 'cnf_00000000000000000000000000', '--as', ' '],
    2,
    '--as must be a name of at most 100 characters',
  ],
  [['deny'], 2, "missing required argument 'id'"],
])('%j exits with %i', async (args, code, message) => {
  const { stderr, ...rest } = await keyledger(...args)
  expect(rest).toStrictEqual({ code, signal: null, stdout: '' })
  expect(stderr).toContain(message)
})
