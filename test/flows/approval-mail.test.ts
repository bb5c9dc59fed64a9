// Guarantee: with a mail server, `serve` sends each member who may approve a request exactly one mail with the URL
// of the decision, also when two servers run; and the mail contains nothing of the request.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { startMailServer } from '../harness/mail-server.ts'
import { createHost } from '../harness/process.ts'
import { client, createVendor } from './vendor.ts'

const host = createHost()
const Pending = z.object({ confirmation: z.object({ id: z.string(), approveUrl: z.string() }) })

/** Undoes how quoted-printable wraps lines; see RFC 2045, section 6.7. */
const withoutSoftBreaks = (raw: string): string => raw.replaceAll('=\r\n', '')

test('two servers send an approver one mail per request', async () => {
  const stores = await host.stores()
  const token = await createVendor(stores.environment)
  await host.run(['member', 'add', 'approver@acme.example', '--tenant', 'acme', '--role', 'approver'], {
    ...stores.environment,
  })
  await host.run(['member', 'add', 'support@acme.example', '--tenant', 'acme', '--role', 'support'], {
    ...stores.environment,
  })
  const mail = await startMailServer()
  const environment = {
    ...stores.environment,
    KEYLEDGER_SMTP_URL: mail.url,
    KEYLEDGER_MAIL_FROM: 'keys@vendor.example',
    KEYLEDGER_BASE_URL: 'https://keys.vendor.example',
  }
  try {
    const [server] = await Promise.all([host.serve(environment), host.serve(environment)])
    const vendor = client(server.address, token)
    await vendor.createProduct(1)
    const ask = async () => {
      const { licenseId } = await vendor.mint()
      const response = await fetch(`${server.address}/v1/licenses/${licenseId}/revoke`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ reason: 'a reason for the approver alone' }),
      })
      return Pending.parse(await response.json()).confirmation
    }
    // By the time of the mail for the second request, a duplicate for the first would have arrived.
    const asked = [await ask()]
    await expect.poll(() => mail.taken.length).toBe(1)
    asked.push(await ask())
    await expect.poll(() => mail.taken.length).toBe(2)
    for (const [index, { approveUrl }] of asked.entries()) {
      const sent = mail.taken[index]
      expect(sent).toMatchObject({ from: 'keys@vendor.example', to: ['approver@acme.example'] })
      const text = withoutSoftBreaks(sent?.raw ?? '')
      expect(text).toContain(approveUrl)
      expect(text).not.toContain('a reason for the approver alone')
    }
  } finally {
    await mail.stop()
  }
})
