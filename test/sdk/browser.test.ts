/** The SDK as it is published runs in a browser as it is: no bundler, nothing of Node, and no WebCrypto. */
import { sign } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, normalize } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildJavascript } from '../../infra/build/javascript.ts'
import { keyPairOf } from '../../src/signing/signer.ts'
import { launchBrowser } from '../harness/chromium.ts'
import { temporaryDirectory } from '../harness/ledger.ts'
import { waitMs } from '../harness/time-limits.ts'

let published: string
let server: Server
let address: string

beforeAll(async () => {
  published = temporaryDirectory()
  await buildJavascript(published)
  server = createServer((request, response) => {
    const path = normalize(request.url ?? '/')
    if (path === '/') response.setHeader('content-type', 'text/html').end(page)
    else if (!path.endsWith('.js')) response.writeHead(404).end()
    else
      response.setHeader('content-type', 'text/javascript').end(readFileSync(join(published, 'dist', path)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close()
  rmSync(published, { recursive: true, force: true })
})

const page = '<!doctype html>'

test('verifies settings and hashes a license key', async () => {
  const { privateKey, publicKey, kid } = keyPairOf(Buffer.alloc(32, 7).toString('base64'))
  const signature = sign(null, Buffer.from(`cfg1|${kid}|acme|editor|1000|87400|14|false`), privateKey)
  const answer = {
    trial_duration_days: 14,
    free_tier_enabled: false,
    kid,
    issued_at: 1000,
    expires_at: 87_400,
    signature: signature.toString('base64'),
  }
  const browser = await launchBrowser()
  try {
    const tab = await browser.newPage()
    tab.setDefaultTimeout(waitMs)
    await tab.goto(address)
    const keyset = { keys: { [kid]: publicKey } }
    const found = await tab.evaluate(`
      import('/index.js').then(({ verifySettings, licenseKeyHash }) => {
        const place = { tenantId: 'acme', productId: 'editor' }
        const check = (answer) => verifySettings(answer, place, ${JSON.stringify(keyset)}, 2000)
        const answer = ${JSON.stringify(answer)}
        return [check(answer), check({ ...answer, trial_duration_days: 15 }), licenseKeyHash('abc')]
      })`)
    expect(found).toStrictEqual([
      { ok: true, settings: { freeTierEnabled: false, trialDurationDays: 14 } },
      { ok: false, reason: 'bad_signature' },
      'b5d4045c3f466fa91fe2cc6abe79232a1a57cdf104f7a26e716e0a1e2789df78',
    ])
  } finally {
    await browser.close()
  }
})
