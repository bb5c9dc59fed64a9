import type { Correspondent } from '../../domain/mails/template.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { KeptMail } from '../../mail/mailbox.ts'
import { ago, moment } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { copyable, empty, facts, heading, section, table } from '../frame/parts.ts'

export function mailboxView(view: View, mails: readonly KeptMail[]): Html {
  return html`<div>
    ${heading(
      'Mailbox',
      html`No mail server is configured, so emails to customers are kept here instead of being sent. The operator of this
        installation can set <code>KEYLEDGER_SMTP_URL</code>.`,
    )}
    ${
      mails.length === 0
        ? empty('No emails yet', 'Customers are emailed when a sale becomes a license.')
        : html`<div class="sheeted">
            ${table({
              caption: 'Emails, newest first',
              columns: [{ label: 'Email' }, { label: 'To', wide: true }, { label: 'Created', wide: true }],
              rows: mails.map(({ deliveryId, subject, to, at }): Content[] => [
                html`<a href=${`/dashboard/mailbox/${deliveryId}`}>${subject}</a>`,
                to.email,
                ago(at, view.now),
              ]),
            })}
          </div>`
    }
  </div>`
}

const nameAnd = ({ name, email }: Correspondent): string => (name === null ? email : `${name} <${email}>`)

export function mailView(mail: KeptMail): Html {
  const { deliveryId, at, from, to, replyTo, subject, text, html: body, attachments = [] } = mail
  return html`<div>
    ${heading(subject, copyable('delivery ID', deliveryId))}
    <div class="sheet">
      ${facts([
        ['From', nameAnd(from)],
        ['To', nameAnd(to)],
        ...(replyTo === null ? [] : [['Reply-To', replyTo] as const]),
        ['Created', moment(at)],
        !deliveryId.includes('_test_') && [
          'Delivery',
          html`<a href=${`/dashboard/deliveries/${deliveryId}`}>View attempts</a>`,
        ],
      ])}
    </div>
    ${section('Text', html`<pre tabindex="0">${text}</pre>`)}
    ${
      body !== null &&
      section(
        'HTML',
        html`<p><a class="button second" href=${`/dashboard/mailbox/${deliveryId}/html`}>View as HTML</a></p>`,
      )
    }
    ${attachments.map(({ name, content }) => section(name, html`<pre tabindex="0">${content}</pre>`))}
  </div>`
}
