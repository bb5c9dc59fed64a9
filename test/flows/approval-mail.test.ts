// Guarantee: with a mail server, `serve` tells each member who may approve a request once, in a mail with the URLs
// of the decisions that wait, also when two servers run; and the mail contains nothing of the request.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { startMailServer } from '../harness/mail-server.ts'
import { createHost } from '../harness/process.ts'
import { client, createVendor } from './vendor.ts'

const host = createHost()
const Pending = z.object({ confirmation: z.object({ id: z.string(), approveUrl: z.string() }) })

/** Undoes how quoted-printable wraps lines; see RFC 2045, section 6.7. */
const withoutSoftBreaks = (raw: string): string => raw.replaceAll('=\r\n', '')

test('two servers send each approver one mail about the requests that wait', async () => {
  const stores = await host.stores()
  const token = await createVendor(stores.environment)
  const addMember = (email: string, role: string) =>
    host.run(['member', 'add', email, '--tenant', 'acme', '--role', role], stores.environment)
  await addMember('approver@acme.example', 'approver')
  await addMember('support@acme.example', 'support')
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
    const asked = [await ask()]
    await expect.poll(() => mail.taken.length).toBe(1)
    // Before the second request: the first member gets no mail about it for minutes, which would hold back others too.
    await addMember('second@acme.example', 'approver')
    asked.push(await ask())
    // By the time of the second approver's mail, a duplicate for the first would have arrived.
    await expect.poll(() => mail.taken.length).toBe(2)
    const [first, second] = mail.taken
    expect(first).toMatchObject({ from: 'keys@vendor.example', to: ['approver@acme.example'] })
    expect(second).toMatchObject({ from: 'keys@vendor.example', to: ['second@acme.example'] })
    const [ofFirst = '', ofSecond = ''] = [first, second].map((one) => withoutSoftBreaks(one?.raw ?? ''))
    expect(ofFirst).toContain(asked[0]?.approveUrl)
    // On a busy machine they may be told of the first request before there is a second.
    expect(asked.filter(({ approveUrl }) => ofSecond.includes(approveUrl))).not.toHaveLength(0)
    for (const text of [ofFirst, ofSecond]) expect(text).not.toContain('a reason for the approver alone')
  } finally {
    await mail.stop()
  }
})
