import type { Config } from '../../config.ts'
import { newId } from '../../credentials/id.ts'
import type { MailProblem, Sending } from '../../mail/mailer.ts'
import { createSmtpMailer, verifySmtp } from '../../mail/smtp.ts'
import type { Check, CheckResult } from './check.ts'

const answerMs = 10_000

/**
 * Checks that the mail server accepts a connection and the credentials. A mail is only sent to `testMailTo`.
 * @param testMailTo the address for a test mail
 */
export const mailCheck = ({ mail }: Pick<Config, 'mail'>, testMailTo: string | undefined): Check => ({
  name: 'mail',
  limitMs: 3 * answerMs,
  async run() {
    const { smtpUrl } = mail
    if (smtpUrl === undefined) {
      const detail = 'no mail server is set (KEYLEDGER_SMTP_URL); mails are stored in the data directory'
      return { ok: true, required: false, detail }
    }
    const { host } = new URL(smtpUrl)
    const verified = await verifySmtp(smtpUrl, answerMs)
    if (!verified.taken) return resultOf(host, verified)
    if (testMailTo === undefined)
      return { ok: true, required: false, detail: `${host} accepts the connection and the credentials` }
    const sent = await sendTestMail(smtpUrl, mail.from, testMailTo)
    return sent.taken
      ? { ok: true, required: false, detail: `${host} accepted a test mail to ${testMailTo}` }
      : resultOf(host, sent)
  },
})

async function sendTestMail(smtpUrl: string, from: Config['mail']['from'], to: string): Promise<Sending> {
  const mailer = createSmtpMailer(smtpUrl)
  try {
    return await mailer.send({
      tenantId: 'doctor',
      deliveryId: newId('whd'),
      at: new Date().toISOString(),
      from,
      replyTo: null,
      to: { name: null, email: to },
      subject: 'Test mail from keyledger',
      text: 'keyledger doctor sent this mail to check that mails arrive.\n',
      html: null,
    })
  } finally {
    await mailer.close()
  }
}

const remedies: Record<MailProblem, string> = {
  refused: 'check that the server accepts mails from the address in KEYLEDGER_MAIL_FROM',
  authentication: 'check the user and the password in KEYLEDGER_SMTP_URL',
  timeout:
    'check the host and the port in KEYLEDGER_SMTP_URL, and that the firewall allows the port: usually 587 or 465',
  connection: 'check the host and the port in KEYLEDGER_SMTP_URL, and that the server runs',
  name: 'check the host in KEYLEDGER_SMTP_URL and the DNS of this machine',
  tls: 'use smtps:// for port 465 and smtp:// for 587, and a server whose certificate this machine trusts',
  internal: 'check the format of KEYLEDGER_SMTP_URL: smtp://user:password@host:587',
}

const words: Record<MailProblem, string> = {
  refused: 'rejects the mail',
  authentication: 'rejects the credentials',
  timeout: 'does not respond in time',
  connection: 'cannot be reached',
  name: 'cannot be resolved',
  tls: 'has no certificate that this machine trusts',
  internal: 'cannot be used',
}

function resultOf(host: string, { problem, status }: Extract<Sending, { taken: false }>): CheckResult {
  const detail = `${host} ${words[problem]}${status === null ? '' : ` (${status})`}`
  return { ok: false, required: false, detail, remedy: remedies[problem] }
}
