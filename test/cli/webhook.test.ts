// Guarantee: the running server delivers to the webhook that an operator sets on the host, with and without NATS;
// the receiver and the verifier of the command line accept only these deliveries; and a test purchase takes the
// same path.
import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { client, createVendor } from '../flows/vendor.ts'
import { natsFor } from '../harness/nats-server.ts'
import { createHost, type Environment, freePort, program } from '../harness/process.ts'

const host = createHost()
let environment: Environment
beforeAll(async () => {
  ;({ environment } = await host.stores())
})

const Set_ = z.strictObject({ url: z.string(), secret: z.string() })
const Told = z.strictObject({ cursor: z.string(), event: z.unknown() })
const Played = z.looseObject({
  status: z.literal('succeeded'),
  licenseId: z.string(),
  stages: z.array(z.looseObject({ status: z.string() })),
})
const Line = z.looseObject({ verified: z.boolean(), payload: z.looseObject({ event: z.string() }) })

test.each([
  ['without NATS', 'acme'],
  ['through NATS', 'globex'],
])('a delivery %s arrives and is verified', async (how, tenant) => {
  const nats = how === 'through NATS' ? await natsFor(host) : undefined
  const own = {
    ...environment,
    KEYLEDGER_WEBHOOK_ALLOW_PRIVATE: 'true',
    ...(nats && { KEYLEDGER_NATS_URL: nats }),
  }
  const server = await host.serve(own)
  const vendor = client(server.address, await createVendor(own, tenant))
  await vendor.createProduct(2)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/hook`
  const { secret } = await host.json(Set_, ['webhook', 'set', url, '--tenant', tenant], own)
  // Setting it again prints the same.
  expect(await host.json(Set_, ['webhook', 'set', url, '--tenant', tenant], own)).toStrictEqual({
    url,
    secret,
  })
  const secretFile = host.path(`secret of ${tenant}`)
  writeFileSync(secretFile, `${secret}\n`)
  const listener = host.start(
    ['node', program, 'webhooks', 'listen', '--secret-file', secretFile, '--port', String(port), '--json'],
    own,
  )
  await expect.poll(() => listener.stderr()).toContain('Listening')
  const { licenseKey } = await vendor.mint({ email: 'ada@example.com' })
  await vendor.activate(licenseKey, 'laptop')
  await expect.poll(() => listener.stdout()).toContain('\n')
  expect(Line.parse(JSON.parse(listener.stdout()))).toMatchObject({
    verified: true,
    own: true,
    standard: true,
    payload: {
      event: 'license.activated',
      sequence: 1,
      device_id: 'laptop',
      customer_email: 'ada@example.com',
    },
  })
  const tail = host.start(['node', program, 'events', 'tail', '--tenant', tenant, '--json'], own)
  await expect.poll(() => tail.stdout()).toMatch(/\n.+\n/)
  const received = z.looseObject({ payload: z.looseObject({}) }).parse(JSON.parse(listener.stdout()))
  const [issued, activated] = tail
    .stdout()
    .split('\n')
    .slice(0, 2)
    .map((line) => Told.parse(JSON.parse(line)).event)
  expect(issued).toMatchObject({ event: 'license.issued', source: 'api', sequence: 1 })
  const { license } = z.looseObject({ license: z.looseObject({ seatsUsed: z.int() }) }).parse(activated)
  expect(activated).toStrictEqual({ ...received.payload, sequence: 2, license })
  expect(license.seatsUsed).toBe(1)
  expect((await tail.end('SIGINT')).code).toBe(0)
  const forged = await fetch(url, {
    method: 'POST',
    headers: { 'x-service-signature': 't=1,v1=00' },
    body: '{}',
  })
  expect(forged.status).toBe(400)
  await host.run(['integrations', 'connect', 'gumroad', '--tenant', tenant], own)
  await vendor.send('POST', '/v1/products/editor/integrations/gumroad', { permalinks: ['editor'] })
  const asked = ['test-purchase', 'editor', '--tenant', tenant]
  const played = await host.json(Played, asked, { ...own, KEYLEDGER_BASE_URL: server.address })
  expect(played.stages.map(({ status }) => status)).toStrictEqual(['done', 'done', 'done'])
  await expect.poll(() => listener.stdout()).toContain(`"license_id":"${played.licenseId}"`)
  // Nothing listens there, which is a temporary failure.
  expect((await host.run(asked, { ...own, KEYLEDGER_BASE_URL: 'http://127.0.0.1:1' })).code).toBe(3)
  await listener.end('SIGINT')
  await server.end('SIGTERM')
})

test('`webhooks verify` checks a single delivery', async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const signature = createHmac('sha256', secret).update('1772366400.{}').digest('hex')
  const args = ['webhooks', 'verify', '--at', '2026-03-01T12:00:03Z']
  const verify = (sent: string, stdin: string, ...more: string[]) => {
    const command = [process.execPath, program, ...args, '--signature', `t=1772366400,v1=${sent}`, ...more]
    return host.start(['sh', '-c', 'printf %s "$0" | "$@"', stdin, ...command], environment).finished
  }
  // On stdin, which other users of the machine cannot read.
  const verified = async (sent: string, body: string) =>
    (await verify(sent, `${secret}\n${body}`, '--secret-file', '-')).code
  expect(await verified(signature, '{}')).toBe(0)
  expect(await verified(signature, '{ }')).toBe(1)
  expect(await verified(`0${signature.slice(1)}`, '{}')).toBe(signature.startsWith('0') ? 0 : 1)

  const argument = await verify(signature, '{}', '--secret', secret)
  expect(argument.code).toBe(0)
  expect(argument.stderr).toMatch(/^Warning: every user of this machine can read command arguments/)
  for (const unusable of [[], ['--secret-file', '/nowhere'], ['--secret', 'whsec_!']]) {
    const { code, stderr } = await verify(signature, '{}', ...unusable)
    expect({ code, leaks: stderr.includes('whsec_!') }).toStrictEqual({ code: 2, leaks: false })
  }
})

test('`webhook set` refuses a private address', async () => {
  const { code, stderr } = await host.run(
    ['webhook', 'set', 'https://10.0.0.1/', '--tenant', 'acme'],
    environment,
  )
  expect(code).toBe(1)
  expect(stderr).toContain('public address')
})
