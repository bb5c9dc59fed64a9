import type { Config } from '../../config.ts'
import { newId } from '../../credentials/id.ts'
import type { MailProblem, Sending } from '../../mail/mailer.ts'
import { createSmtpMailer, verifySmtp } from '../../mail/smtp.ts'
import type { Check, Finding } from './check.ts'

const answerMs = 10_000

/**
 * Whether the mail server takes a connection and the credentials. No mail is sent, unless an address for one is given.
 * @param testMailTo the address for a test mail
 */
export const mailCheck = ({ mail }: Pick<Config, 'mail'>, testMailTo: string | undefined): Check => ({
  name: 'mail',
  limitMs: 3 * answerMs,
  async run() {
    const { smtpUrl } = mail
    if (smtpUrl === undefined) {
      const detail = 'no mail server is set (KEYLEDGER_SMTP_URL); mails are kept in the data directory'
      return { ok: true, required: false, detail }
    }
    const { host } = new URL(smtpUrl)
    const verified = await verifySmtp(smtpUrl, answerMs)
    if (!verified.taken) return findingOf(host, verified)
    if (testMailTo === undefined)
      return { ok: true, required: false, detail: `${host} takes connection and credentials` }
    const sent = await sendTestMail(smtpUrl, mail.from, testMailTo)
    return sent.taken
      ? { ok: true, required: false, detail: `${host} has taken a test mail to ${testMailTo}` }
      : findingOf(host, sent)
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
      subject: 'Test mail of keyledger',
      text: 'keyledger doctor has sent this mail to see whether mails arrive.\n',
      html: null,
    })
  } finally {
    await mailer.close()
  }
}

const remedies: Record<MailProblem, string> = {
  refused: 'see that the server takes mails from the address in KEYLEDGER_MAIL_FROM',
  authentication: 'check user and password in KEYLEDGER_SMTP_URL',
  timeout:
    'check host and port in KEYLEDGER_SMTP_URL, and that the firewall allows it: 587 or 465, seldom 25',
  connection: 'check host and port in KEYLEDGER_SMTP_URL, and that the server runs',
  name: 'check the host in KEYLEDGER_SMTP_URL, and the DNS of this machine',
  tls: 'use smtps:// for port 465 and smtp:// for 587, and a server whose certificate is trusted here',
  internal: 'check the form of KEYLEDGER_SMTP_URL: smtp://user:password@host:587',
}

const words: Record<MailProblem, string> = {
  refused: 'refuses the mail',
  authentication: 'refuses the credentials',
  timeout: 'does not answer in time',
  connection: 'cannot be reached',
  name: 'has no address here',
  tls: 'offers no TLS that is trusted here',
  internal: 'cannot be spoken to',
}

function findingOf(host: string, { problem, status }: Extract<Sending, { taken: false }>): Finding {
  const detail = `${host} ${words[problem]}${status === null ? '' : ` (${status})`}`
  return { ok: false, required: false, detail, remedy: remedies[problem] }
}
