// Guarantee: no event, table, log line or file contains a raw license key, a token, a payment provider's key or
// secret, an email address or a person's name; the master key is only in its own file, which only its owner can
// read.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { basename, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createHost, type Environment, type Server } from '../harness/process.ts'
import { startProviders } from '../harness/providers.ts'
import { connectTo } from './embedded.ts'
import { createOperator } from './operator.ts'
import { askingStandIns, sellThroughAll } from './selling.ts'
import { client, createVendor, productId } from './vendor.ts'

const host = createHost()
const email = 'canary.Wrenfield.7f3a9@canary-mail.example'
const name = 'Canary Wrenfield Holderton'
const owner = 'canary.owner.51c2@canary-owner.example'

test('planted keys, tokens, addresses and names appear in no event, table, log line or file', async () => {
  const standIns = await startProviders()
  onTestFinished(() => standIns.close())
  const environment = {
    KEYLEDGER_DATA_DIR: host.path('data'),
    KEYLEDGER_LOG_LEVEL: 'trace',
    // Nothing listens there: a key that is to be mailed stays sealed in the vault.
    KEYLEDGER_SMTP_URL: 'smtp://127.0.0.1:9',
    KEYLEDGER_MAIL_FROM: 'licenses@keyledger.example',
    ...askingStandIns(standIns),
  }
  const server = await host.serve(environment)
  const tokens = [await firstToken(server), await createVendor(environment)]
  const args = ['init', '--tenant', 'canary', '--owner', owner]
  expect(await host.json(z.object({ tenantId: z.string() }), args, environment)).toMatchObject({
    tenantId: 'canary',
  })
  const keys = await live(server, tokens[1] ?? '')
  await sendInWrongPlaces(server, tokens[1] ?? '', keys[0] ?? '')
  const sold = await sellThroughAll(host, environment, server, tokens[1] ?? '', productId)
  const operatorSaw = await lookAround(environment)
  expect(operatorSaw).toContain(email)

  const canaries = new Map<string, string>([
    ...keys.map((key, index): [string, string] => [key, `license key ${index}`]),
    ...tokens.map((token, index): [string, string] => [token, `token ${index}`]),
    [email, 'e-mail'],
    [name, 'name'],
    [owner, 'owner'],
    ...sold,
  ])
  // Each license's key, and the one that was replaced.
  expect(await query(environment, 'select from vault.kept_keys')).toHaveLength(5)
  expect(await inEventsAndTables(environment, canaries)).toStrictEqual([])
  expect(inText('a log line', server.stderr(), canaries)).toStrictEqual([])
  // The only place where the first token is printed.
  expect(inText('stdout', server.stdout().replaceAll(tokens[0] ?? '', ''), canaries)).toStrictEqual([])

  const masterKey = readFileSync(join(environment.KEYLEDGER_DATA_DIR, 'master.key'), 'utf8').trim()
  const wanted = new Map([...canaries, [masterKey, 'master key']])
  expect((await server.end('SIGTERM')).code).toBe(0)
  expect(inFiles(environment.KEYLEDGER_DATA_DIR, wanted)).toStrictEqual(['master.key: master key'])
  expect(statSync(join(environment.KEYLEDGER_DATA_DIR, 'master.key')).mode & 0o777).toBe(0o600)
  expect(inText('output', host.output(), new Map([[masterKey, 'master key']]))).toStrictEqual([])
})

async function firstToken(server: Server): Promise<string> {
  await expect.poll(() => server.stdout()).toContain('kl_pat_')
  return /^ {2}(kl_pat_\w+)$/m.exec(server.stdout())?.[1] ?? ''
}

/** Takes a license through its whole life cycle. @returns the keys that were handed out */
async function live(server: Server, token: string): Promise<string[]> {
  const vendor = client(server.address, token)
  await vendor.createProduct(1)
  // The keys of all that follow are kept to be mailed again.
  expect((await vendor.send('PATCH', `/v1/products/${productId}`, { keyRecovery: true })).status).toBe(200)
  const keys: string[] = []
  for (let count = 0; count < 2; count++) {
    const { licenseId, licenseKey } = await vendor.mint({ email, name, sendKey: true })
    keys.push(licenseKey)
    await vendor.activate(licenseKey, 'laptop')
    await vendor.activate(licenseKey, 'desktop')
    await vendor.validate(licenseKey, 'laptop')
    await vendor.deactivate(licenseKey, 'laptop')
    const { body } = await vendor.send('GET', `/v1/licenses/${licenseId}`)
    expect(body.license).toMatchObject({ email })
  }
  return [...keys, ...(await liveByKeyedRequests(server, token)), idempotencyKey]
}

const idempotencyKey = 'canary-key-2d1f7c40-order-1017'
const imported = 'CANARY-imported-90f2-7b1c-44de'

/** The same with an Idempotency-Key, whose responses are stored. @returns the keys in them */
async function liveByKeyedRequests({ address }: Server, token: string): Promise<string[]> {
  const send = async (path: string, body: object) => {
    const response = await fetch(address + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey,
      },
      body: JSON.stringify(body),
    })
    expect(response.status).toBeLessThan(300)
    const answer: unknown = await response.json()
    return { replay: response.headers.get('idempotent-replay'), answer }
  }
  const holder = { email, name }
  const minted = await send('/v1/licenses', { productId, ...holder })
  expect(await send('/v1/licenses', { productId, ...holder })).toStrictEqual({ ...minted, replay: 'true' })
  const { license, licenseKey } = z
    .looseObject({ license: z.looseObject({ id: z.string() }), licenseKey: z.string() })
    .parse(minted.answer)
  const reminted = await send(`/v1/licenses/${license.id}/remint`, { sendKey: true })
  const { licenseKey: second } = z.looseObject({ licenseKey: z.string() }).parse(reminted.answer)
  await send('/v1/licenses/activate', { product_id: productId, license_key: second, device_id: 'laptop' })
  const { answer } = await send('/v1/licenses/import', {
    productId,
    licenses: [{ licenseKey: imported, ...holder }],
  })
  const { results } = z
    .looseObject({ results: z.array(z.looseObject({ id: z.string() })).length(1) })
    .parse(answer)
  await send(`/v1/licenses/${results[0]?.id}/send-key`, { reason: 'the mail was lost' })
  return [licenseKey, second, imported]
}

/** Sends a key and a token in wrong places, as careless callers do. None of it may succeed or be stored. */
async function sendInWrongPlaces({ address }: Server, token: string, key: string): Promise<void> {
  const json = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  const send = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(address + path, init)
    expect(response.status).toBeGreaterThanOrEqual(400)
    expect(response.status).toBeLessThan(500)
    await response.text()
  }
  const post = (path: string, body: string) => send(path, { method: 'POST', headers: json, body })
  for (const secret of [key, token, email]) {
    const inPath = encodeURIComponent(secret)
    await send(`/v1/licenses/${inPath}`, { headers: json })
    await send(`/v1/licenses/${inPath}`, { method: 'DELETE', headers: json })
    await send(`/v1/products/${inPath}`, { headers: json })
    await send(`/${inPath}`)
    await send(`/%zz${inPath}`)
    await send(`/v1/licenses?cursor=${inPath}`, { headers: json })
    await send(`/v1/licenses?license_key=${inPath}`, { headers: json })
    await post('/v1/licenses/validate', `{"license_key":"${secret}",`)
    await post('/v1/licenses/validate', `${secret}`)
    await post('/v1/licenses/validate', JSON.stringify({ product_id: secret, license_key: [secret] }))
    await post('/v1/licenses/activate', JSON.stringify({ product_id: productId, license_key: { a: secret } }))
    await post('/v1/licenses', JSON.stringify({ productId, quantity: secret, [secret]: secret }))
    await post('/v1/licenses', JSON.stringify({ productId, email: `${secret} is no address` }))
    await send('/v1/products', { headers: { authorization: `Basic ${secret}` } })
    await send('/v1/products', { headers: { authorization: `Bearer ${secret} ${secret}` } })
    await send('/v1/products', { method: 'POST', headers: { ...json, 'content-type': secret }, body: secret })
  }
  expect(
    await sendRaw(address, `POST /v1/licenses HTTP/1.1\r\n${key}\r\nAuthorization: ${token}\r\n\r\n`),
  ).toMatch(/^HTTP\/1\.1 400 /)
}

/** Sends bytes that no HTTP client would send. @returns the response */
async function sendRaw(address: string, request: string): Promise<string> {
  const { hostname: hostName, port } = new URL(address)
  const socket = connect({ host: hostName, port: Number(port) })
  socket.write(request)
  return text(socket)
}

/** Runs every command that reads, so that its output and log lines are searched too. @returns its output */
async function lookAround(environment: Environment): Promise<string> {
  const licenses = z.array(z.object({ license_id: z.string() }))
  const ids = licenses.parse(
    await query(environment, 'select distinct license_id from read_models.license_history limit 1'),
  )
  const id = ids[0]?.license_id ?? ''
  const commands = [
    ['licenses', 'show', id, '--tenant', 'acme'],
    ['licenses', 'history', id, '--tenant', 'acme'],
    ['projections', 'rebuild'],
    ['doctor'],
  ]
  let shown = ''
  for (const args of commands) {
    const { code, stdout, stderr } = await host.run(args, environment)
    expect({ args, code, stderr }).toStrictEqual({ args, code: 0, stderr: '' })
    shown += stdout
  }
  return shown
}

async function query(environment: Environment, statement: string): Promise<unknown[]> {
  const session = await connectTo(environment)
  try {
    return (await session.query<Record<string, unknown>>(statement)).rows
  } finally {
    await session.end()
  }
}

type Canaries = ReadonlyMap<string, string>

function inText(place: string, content: string, canaries: Canaries): string[] {
  const lowered = content.toLowerCase()
  return [...canaries].flatMap(([secret, what]) =>
    lowered.includes(secret.toLowerCase()) ? [`${place}: ${what}`] : [],
  )
}

async function inEventsAndTables(environment: Environment, canaries: Canaries): Promise<string[]> {
  const operator = await createOperator(environment)
  const log = await operator.readLog()
  await operator.close()
  expect(log.length).toBeGreaterThan(10)
  const events = log.flatMap((entry) =>
    inText(
      `event ${entry.stream}`,
      JSON.stringify(entry, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
      canaries,
    ),
  )
  const tables = z.array(z.object({ name: z.string() })).parse(
    await query(
      environment,
      `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
       where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
    ),
  )
  expect(tables.length).toBeGreaterThan(8)
  const found = [...events]
  for (const { name: table } of tables) {
    const rows = await query(environment, `select to_json(t)::text as row from ${table} t`)
    found.push(...inText(`table ${table}`, JSON.stringify(rows), canaries))
  }
  return found
}

/** Searches every file, as bytes, for a secret in plaintext and in other encodings. */
function inFiles(directory: string, canaries: Canaries): string[] {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  expect(files.map((file) => basename(file))).toContain('events.sqlite')
  return files.flatMap((file) => {
    const content = readFileSync(file)
    return [...canaries].flatMap(([secret, what]) =>
      formsOf(secret).some((form) => content.includes(form))
        ? [`${file.slice(directory.length + 1)}: ${what}`]
        : [],
    )
  })
}

function formsOf(secret: string): Buffer[] {
  const texts = new Set([secret, secret.toLowerCase(), secret.replaceAll('-', '')])
  const base64 = Buffer.from(secret).toString('base64').replace(/.?=*$/, '')
  return [Buffer.from(secret, 'utf16le'), ...[...texts, base64].map((form) => Buffer.from(form))]
}
