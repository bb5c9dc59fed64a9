/**
 * Guarantee: a mail is sent complete and to one address only, or kept where only the owner of the data directory can
 * read it. A failure is reported without the mail's content.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SMTPServerOptions } from 'smtp-server'
import { afterEach, describe, expect, test } from 'vitest'
import { createMailbox } from '../../src/mail/mailbox.ts'
import type { Mailer, OutgoingMail } from '../../src/mail/mailer.ts'
import { createSmtpMailer } from '../../src/mail/smtp.ts'
import { startMailServer } from '../harness/mail-server.ts'
import { freePort } from '../harness/process.ts'

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

const mail: OutgoingMail = {
  tenantId: 'acme',
  deliveryId: 'whd_01k9m3v5q7e8ra9c1d3f5g7h9j',
  at: '2026-03-01T12:00:00.000Z',
  from: { name: 'Acme, Tools', email: 'licenses@acme.example' },
  replyTo: 'help@acme.example',
  to: { name: 'Ada "the" <Countess>', email: 'ada@example.com' },
  subject: 'Dein Schlüssel für Acme',
  text: 'ACME-AAAAA-BBBBB',
  html: '<p>ACME-AAAAA-BBBBB</p>',
}

async function startServer(options: SMTPServerOptions = {}) {
  const server = await startMailServer(options)
  undo.push(() => server.stop())
  return server
}

function mailerTo(url: string): Mailer {
  const mailer = createSmtpMailer(url)
  undo.push(() => mailer.close())
  return mailer
}

describe('a mail server', () => {
  test('accepts a mail with its parts, under the same id each time', async () => {
    const { url, taken } = await startServer()
    const mailer = mailerTo(url)
    expect(await mailer.send(mail)).toMatchObject({ taken: true, status: 250 })
    expect(await mailer.send(mail)).toMatchObject({ taken: true })
    expect(taken).toHaveLength(2)
    for (const { from, to, raw } of taken) {
      expect({ from, to }).toStrictEqual({ from: 'licenses@acme.example', to: ['ada@example.com'] })
      expect(raw).toContain('Message-ID: <whd_01k9m3v5q7e8ra9c1d3f5g7h9j@acme.example>')
      expect(raw).toContain('Reply-To: help@acme.example')
      expect(raw).toContain('Auto-Submitted: auto-generated')
      expect(raw).toContain('X-SMTPAPI: {"unique_args":{"delivery":"whd_01k9m3v5q7e8ra9c1d3f5g7h9j"}}\r\n')
      expect(raw).toMatch(/^From: "Acme, Tools" <licenses@acme.example>/m)
      expect(raw).toMatch(
        /text\/plain[\s\S]*ACME-AAAAA-BBBBB[\s\S]*text\/html[\s\S]*<p>ACME-AAAAA-BBBBB<\/p>/,
      )
    }
  })

  test('accepts a mail with an attachment', async () => {
    const { url, taken } = await startServer()
    const content = '{"record":"{}"}'
    await mailerTo(url).send({ ...mail, attachments: [{ name: 'receipt.json', content }] })
    const raw = taken[0]?.raw ?? ''
    expect(raw).toMatch(/Content-Type: application\/json; name=receipt.json/)
    expect(raw).toContain(Buffer.from(content).toString('base64'))
  })

  test('accepts a mail whose HTML shows the logo that is sent with it', async () => {
    const { url, taken } = await startServer()
    const logo = { type: 'image/png', data: 'iVBORw0KGgo=' } as const
    await mailerTo(url).send({ ...mail, html: '<img src="cid:logo">', logo })
    const raw = taken[0]?.raw ?? ''
    expect(raw).toMatch(/Content-Type: multipart\/related/)
    expect(raw).toMatch(/Content-Id: <logo>/i)
    expect(raw).toContain(logo.data)
  })

  test('gets exactly one recipient for any name and address', async () => {
    const { url, taken } = await startServer()
    const mailer = mailerTo(url)
    for (const to of [
      { name: 'x <other@example.com>, y', email: 'ada@example.com' },
      { name: null, email: 'ada@example.com, other@example.com' },
    ]) {
      await mailer.send({ ...mail, to })
    }
    expect(taken.every(({ to }) => to.length === 1 && !to.includes('other@example.com'))).toBe(true)
  })

  test('that rejects a mail gives the problem `refused`', async () => {
    const { url } = await startServer({
      onRcptTo: (_address, _session, callback) =>
        callback(Object.assign(new Error('5.1.1 no such user'), { responseCode: 550 })),
    })
    const sending = await mailerTo(url).send(mail)
    expect(sending).toMatchObject({ taken: false, problem: 'refused', status: 550 })
    expect(JSON.stringify(sending)).not.toContain('ACME-AAAAA')
  })

  test('that is down or requires a password gives the problem `connection` or `authentication`', async () => {
    const closed = await freePort()
    const gone = await mailerTo(`smtp://127.0.0.1:${closed}`).send(mail)
    expect(gone).toMatchObject({ taken: false, problem: 'connection', status: null, answer: null })
    const server = createServer((socket) => socket.destroy())
    const port = await freePort()
    await new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', () => resolve()))
    undo.push(() => server.close())
    expect(await mailerTo(`smtp://127.0.0.1:${port}`).send(mail)).toMatchObject({ problem: 'connection' })
    const { url } = await startServer({
      authOptional: false,
      onAuth: (_auth, _session, callback) => callback(new Error('no')),
      allowInsecureAuth: true,
    })
    expect(await mailerTo(url.replace('//', '//user:wrong@')).send(mail)).toMatchObject({
      taken: false,
      problem: 'authentication',
    })
  })
})

describe('a mailbox', () => {
  function newMailbox() {
    const directory = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
    undo.push(() => rmSync(directory, { recursive: true, force: true }))
    return { directory, mailbox: createMailbox(join(directory, 'mailbox')) }
  }

  test('keeps a mail once, for its tenant only, and readable only by its owner', async () => {
    const { directory, mailbox } = newMailbox()
    expect(await mailbox.list('acme', 10)).toStrictEqual([])
    for (let sent = 0; sent < 2; sent++) {
      expect(await mailbox.send(mail)).toMatchObject({ taken: true })
    }
    expect(await mailbox.list('acme', 10)).toStrictEqual([mail])
    expect(await mailbox.find('acme', mail.deliveryId)).toStrictEqual(mail)
    expect(await mailbox.list('globex', 10)).toStrictEqual([])
    expect(await mailbox.find('globex', mail.deliveryId)).toBeUndefined()
    const folder = join(directory, 'mailbox', 'acme')
    const [file = ''] = readdirSync(folder)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600)
  })

  test.each(['../acme/x', '..', 'x.json', ''])('finds nothing for the id %j', async (id) =>
    expect(await newMailbox().mailbox.find('acme', id)).toBeUndefined(),
  )
})
