import { TimeoutError, withTimeout } from '../async/timeout.ts'
import type { Correspondent } from '../domain/mails/template.ts'
import type { Mailer, MailProblem, OutgoingMail, Sending } from './mailer.ts'

/** A whole attempt, and each of its waits, ends within this time. */
const attemptMs = 15_000
const mostOfAnswer = 1024

/** Hands mails to a mail server, a few at a time. @param url `smtp://…` or `smtps://…`, with its credentials */
export function createSmtpMailer(url: string): Mailer {
  let transport: ReturnType<typeof connect> | undefined
  return {
    async send(mail) {
      try {
        transport ??= connect(url)
        const sent = await (await transport).sendMail({
          ...messageOf(mail),
          signal: AbortSignal.timeout(attemptMs),
        })
        return { taken: true, status: statusIn(sent.response), answer: shortened(sent.response) }
      } catch (error) {
        return failureOf(error)
      }
    },
    async close() {
      ;(await transport)?.close()
    },
  }
}

/**
 * Connects to a mail server, shows it the credentials, and sends nothing.
 * @param url as {@link createSmtpMailer} takes it
 */
export async function verifySmtp(url: string, timeLimitMs: number): Promise<Sending> {
  const transport = await connect(url, timeLimitMs)
  try {
    await withTimeout(transport.verify(), timeLimitMs)
    return { taken: true, status: null, answer: '' }
  } catch (error) {
    if (error instanceof TimeoutError) return { taken: false, problem: 'timeout', status: null, answer: null }
    return failureOf(error)
  } finally {
    transport.close()
  }
}

/** Loaded with the first mail: most processes send none. */
async function connect(url: string, limitMs = attemptMs) {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    url,
    pool: true,
    maxConnections: 4,
    // A connection that breaks may have handed over the mail: that is for the next attempt to repeat, and to tell.
    maxRequeues: 0,
    connectionTimeout: limitMs,
    greetingTimeout: limitMs,
    socketTimeout: limitMs,
    dnsTimeout: limitMs,
    // A template is text, and names no files or addresses to put in.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

/** Addresses are objects, so that none is ever read as a list of several. */
function messageOf({ deliveryId, from, to, replyTo, subject, text, html }: OutgoingMail) {
  return {
    // The same in every attempt, so that a mailbox can tell a repeated mail from a second one.
    messageId: `<${deliveryId}@${from.email.split('@').at(-1)}>`,
    from: addressOf(from),
    to: [addressOf(to)],
    ...(replyTo !== null && { replyTo: [addressOf({ name: null, email: replyTo })] }),
    subject,
    text,
    ...(html !== null && { html }),
    headers: { 'Auto-Submitted': 'auto-generated' },
  }
}

const addressOf = ({ name, email }: Correspondent) => ({ name: name ?? '', address: email })

const problems: Record<string, MailProblem> = {
  EENVELOPE: 'refused',
  EMESSAGE: 'refused',
  EAUTH: 'authentication',
  ENOAUTH: 'authentication',
  ETLS: 'tls',
  EREQUIRETLS: 'tls',
  EDNS: 'name',
  ETIMEDOUT: 'timeout',
  EABORT: 'timeout',
  ECONNECTION: 'connection',
  ESOCKET: 'connection',
  EPROTOCOL: 'connection',
}

/** Says what went wrong without what the mail held: an error's own message may quote it. */
function failureOf(error: unknown): Sending {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const response = error instanceof Error && 'response' in error ? error.response : undefined
  const answer = typeof response === 'string' ? shortened(response) : null
  const status = answer === null ? null : statusIn(answer)
  return { taken: false, problem: problems[code] ?? 'internal', status, answer }
}

/** `250 2.0.0 OK` */
function statusIn(response: string): number | null {
  const code = /^[2-5]\d\d/.exec(response)?.[0]
  return code === undefined ? null : Number(code)
}

const shortened = (response: string): string => response.slice(0, mostOfAnswer)
