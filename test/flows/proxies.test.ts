/**
 * Guarantee: the examples for nginx and Caddy work as they stand in the documentation, but for the address, the certificate and the
 * ports: what monitoring asks stays inside, everything else gets through, and callers keep their own address, whatever they
 * claim.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import type { LookupFunction } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { createHost, freePort, type Running } from '../harness/process.ts'
import { proxyProgram } from '../harness/proxies.ts'
import { makeCertificate } from '../harness/refusing-store.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { createMemoryLimiter } from '../limits/memory-buckets.ts'

const host = createHost()
const name = 'licenses.example.com'
const page = readFileSync(join(import.meta.dirname, '../../docs/operating/deploy.md'), 'utf8')

let api: TestApi
let tenant: TestTenant
let upstream: string
const documents = createMemoryLimiter('documents', { perMinute: 1, burst: 1 }, () => 0)
beforeAll(async () => {
  api = await openTestApi({ limits: { documents }, trustProxy: ['127.0.0.1'], baseUrl: `https://${name}` })
  tenant = await makeTenant(api.ledger)
  await makeProduct(api.ask, tenant.token, 'editor')
  const address = await api.app.listen({ port: 0, host: '127.0.0.1' })
  upstream = new URL(address).host
})
afterAll(async () => {
  await documents.stop()
  await api.close()
})

/** An example of the page, with the ports and the certificate of this test. */
function exampleOf(fence: string, changes: readonly [from: string, to: string][]): string {
  const [, found = ''] = page.split(`\`\`\`${fence}\n`)
  const [example = ''] = found.split('```')
  return changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`the example for ${fence} has no ${from}`)
    return text.replace(from, to)
  }, example)
}

describe.each(['nginx', 'caddy'] as const)('%s', (proxy) => {
  let address: string
  let ca: string
  beforeAll(async () => {
    const port = await freePort()
    const { cert, key } = makeCertificate(host.directory, name)
    ca = readFileSync(cert, 'utf8')
    address = `https://${name}:${port}`
    const file = host.path(proxy)
    let running: Running
    if (proxy === 'nginx') {
      const server = exampleOf('nginx', [
        ['listen 443', `listen 127.0.0.1:${port}`],
        [`/etc/ssl/${name}.crt`, cert],
        [`/etc/ssl/${name}.key`, key],
        ['127.0.0.1:8080', upstream],
      ])
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      const temporary = paths.map((one) => `${one}_temp_path ${file}-${one};`).join(' ')
      writeFileSync(file, `events {} http { access_log off; ${temporary} ${server} }`)
      const alone = `daemon off; master_process off; pid ${file}.pid;`
      running = host.start([proxyProgram('nginx'), '-e', 'stderr', '-c', file, '-g', alone], {})
    } else {
      const site = exampleOf('caddyfile', [
        [`${name} {`, `${address} {\n  tls ${cert} ${key}`],
        ['127.0.0.1:8080', upstream],
      ])
      writeFileSync(file, `{\n  admin off\n  auto_https disable_redirects\n}\n${site}`)
      const command = [proxyProgram('caddy'), 'run', '--adapter', 'caddyfile', '--config', file]
      running = host.start(command, { XDG_DATA_HOME: host.directory, XDG_CONFIG_HOME: host.directory })
    }
    const ended = running.finished.then(({ stderr }) => {
      throw new Error(stderr)
    })
    const answers = async () => {
      while (!(await ask('/').catch(() => undefined))) await setTimeout(50)
    }
    await Promise.race([ended, answers()])
    ended.catch(() => undefined)
  })

  /** @param from the loopback address that the call comes from */
  async function ask(
    path: string,
    { from = '127.0.0.2', ...options }: Parameters<typeof request>[1] & { from?: string } = {},
  ) {
    const lookup: LookupFunction = (_name, _options, found) => found(null, '127.0.0.1', 4)
    const dispatcher = new Agent({ connect: { ca, lookup }, localAddress: from, autoSelectFamily: false })
    const { statusCode: status, headers, body } = await request(address + path, { dispatcher, ...options })
    const text = await body.text()
    await dispatcher.close()
    return { status, headers, text }
  }

  test.each(['/livez', '/readyz', '/metrics'])('%s stays inside', async (path) => {
    expect(await ask(path)).toMatchObject({
      status: 404,
      text: expect.not.stringContaining('error') as string,
    })
  })

  test('calls, pages and their scripts get through', async () => {
    const { licenseKey } = await mint(api.ask, tenant.token, 'editor')
    const validate = await ask('/v1/licenses/validate', {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ product_id: 'editor', license_key: licenseKey }),
    })
    expect(JSON.parse(validate.text)).toMatchObject({ valid: true })
    const signIn = await ask('/dashboard/sign-in')
    expect(signIn.status).toBe(200)
    expect(String(signIn.headers['set-cookie'])).toContain('; Secure')
    const [, style = ''] = /<link[^>]* href="(\/assets\/[^"]+\.css)"/.exec(signIn.text) ?? []
    expect((await ask(style)).headers['content-type']).toContain('text/css')
  })

  test('an import of several megabytes gets through', async () => {
    const { status, text } = await ask('/v1/licenses/import', {
      method: 'POST',
      headers: { authorization: `Bearer ${tenant.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ licenses: 'x'.repeat(3_000_000) }),
    })
    expect({ status, body: JSON.parse(text) as unknown }).toMatchObject({
      status: 400,
      body: { error: expect.anything() as unknown },
    })
  })

  test('a caller keeps its address, whatever it claims', async () => {
    const read = async (from: string, claim: string) =>
      (await ask('/v1/openapi.json', { from, headers: { 'x-forwarded-for': claim, 'x-real-ip': claim } }))
        .status
    const [first, second] = proxy === 'nginx' ? ['127.0.0.3', '127.0.0.4'] : ['127.0.0.5', '127.0.0.6']
    expect(await read(first, '203.0.113.1')).toBe(200)
    expect(await read(first, '203.0.113.2')).toBe(429)
    expect(await read(second, '203.0.113.1')).toBe(200)
  })
})
