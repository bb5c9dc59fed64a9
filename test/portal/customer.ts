import type { FastifyInstance } from 'fastify'
import { vi } from 'vitest'
import { createSmtpMailer } from '../../src/mail/smtp.ts'
import { type Client, clientOf } from '../dashboard/client.ts'
import { askOf, makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { startMailServer } from '../harness/mail-server.ts'
import { freePort } from '../harness/process.ts'

type TakenMail = { to: string[]; raw: string }

export type TestPortal = {
  api: TestApi
  /** Every mail that the mail server took. */
  mails: TakenMail[]
  /** The mails to an address, oldest first: those of an earlier test may still come in between. */
  mailsTo(email: string): TakenMail[]
  tenant: TestTenant
  home: string
  visitor(address?: string): Client
  /** Asks for a link and waits for the mail. @returns the path of the link in it */
  linkFor(client: Client, email: string, home?: string): Promise<string>
  /** A client that is signed in with a mailed link. */
  signedIn(email: string, home?: string): Promise<Client>
  close(): Promise<void>
}

const from = { name: null, email: 'licenses@keyledger.example' }

/** A server with a real mail server, and a tenant whose portal is open. */
export async function openTestPortal(options: Parameters<typeof openTestApi>[0] = {}): Promise<TestPortal> {
  const server = await startMailServer()
  const mailer = createSmtpMailer(server.url)
  const api = await openTestApi({ mailing: { mailer, mailbox: undefined, from }, ...options })
  const tenant = await makeTenant(api.ledger)
  await openPortalOf(api.app, tenant.token)
  const home = `/portal/${tenant.tenantId}`
  let addresses = 0

  const portal: TestPortal = {
    api,
    mails: server.taken,
    mailsTo: (email) => server.taken.filter(({ to }) => to.includes(email.toLowerCase())),
    tenant,
    home,
    visitor: (address = `10.1.${Math.floor(addresses / 250)}.${addresses++ % 250}`) =>
      clientOf(api.app, address),
    async linkFor(client, email, of = home) {
      const before = portal.mailsTo(email).length
      await client.get(`${of}/sign-in`)
      const asked = await client.post(`${of}/sign-in`, { email })
      const offersProvider = asked.text.includes('name="by" value="link"')
      const answer = offersProvider ? await client.post(`${of}/sign-in`, { email, by: 'link' }) : asked
      if (answer.status !== 200) throw new Error(`the form was answered ${answer.status}`)
      await vi.waitUntil(() => portal.mailsTo(email).length > before, { interval: 5, timeout: 30_000 })
      return linkIn(portal.mailsTo(email).at(-1)?.raw ?? '')
    },
    async signedIn(email, of = home) {
      const client = portal.visitor()
      const link = await portal.linkFor(client, email, of)
      await client.get(link)
      const answer = await client.post(`${of}/link`, {
        token: new URL(link, 'http://x').searchParams.get('token') ?? '',
      })
      if (answer.location !== of) throw new Error(`the link was answered ${answer.status}`)
      return client
    },
    async close() {
      await api.close()
      await mailer.close()
      await server.stop()
    },
  }
  return portal
}

/** The same for a browser, at an address. */
export async function openListeningPortal(): Promise<{ portal: TestPortal; address: string }> {
  const port = await freePort()
  const address = `http://localhost:${port}`
  const portal = await openTestPortal({ baseUrl: address })
  await portal.api.app.listen({ port, host: 'localhost' })
  return { portal, address }
}

/** Turns the portal of a tenant on. */
export async function openPortalOf(app: FastifyInstance, token: string, more: object = {}): Promise<void> {
  const body = { enabled: true, name: 'Acme', supportEmail: 'help@acme.example', ...more }
  await askOf(app)('PUT', '/v1/portal', { token, body })
}

/** The path of the link in a mail, whose lines are quoted-printable. */
export function linkIn(raw: string): string {
  const text = raw.replaceAll('=\r\n', '').replaceAll('=3D', '=')
  const url = /https?:\/\/\S+\/link\?token=[\w-]+/.exec(text)?.[0]
  if (url === undefined) throw new Error('the mail has no link')
  const { pathname, search } = new URL(url)
  return pathname + search
}
