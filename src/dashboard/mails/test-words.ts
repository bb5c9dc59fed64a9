import type { TestMail } from '../../commands/mails.ts'
import type { MailProblem, Sending } from '../../mail/mailer.ts'
import type { FlashMessage } from '../session/session.ts'

/** How the test of a mail ended, for the member who asked for it. */
export function testMailWords(tested: TestMail): FlashMessage {
  if (tested.outcome === 'wait') {
    const { retryAfterSeconds: seconds } = tested
    return {
      kind: 'wrong',
      text: `Too many test mails. Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`,
    }
  }
  const { sending, to, kept } = tested
  if (!sending.taken) return { kind: 'wrong', text: `The test mail was not sent. ${problemText(sending)}` }
  return {
    kind: 'done',
    text: kept
      ? 'The test mail is in the mailbox, since no mail server is configured.'
      : `The mail server accepted the test mail to ${to}. Look in your inbox and in the spam folder.`,
  }
}

const problemTexts: Record<MailProblem, string> = {
  refused: 'The mail server refused it',
  authentication: 'The mail server rejects the credentials of this installation; ask its operator',
  timeout: 'The mail server did not answer in time',
  connection: 'The mail server cannot be reached; ask the operator of this installation',
  name: "The mail server's name cannot be found; ask the operator of this installation",
  tls: 'No encrypted connection to the mail server is possible; ask the operator of this installation',
  internal: 'It failed within this installation; ask its operator',
}

function problemText({ problem, answer }: Extract<Sending, { taken: false }>): string {
  return `${problemTexts[problem]}${answer === null ? '.' : `: ${answer.trim()}`}`
}
