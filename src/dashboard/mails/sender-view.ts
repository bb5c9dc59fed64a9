import { type MailSender, mailSenders } from '../../domain/mails/senders.ts'
import type { ConnectedSender } from '../../domain/mails/wordings.ts'
import { type Html, html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { choiceField, formProblem, textField } from '../forms/form-fields.ts'
import { moment } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { heading, notice, secretBox, section, tokenField } from '../frame/parts.ts'
import { senderPath } from './view.ts'

const named = Object.entries(mailSenders) as [MailSender, (typeof mailSenders)[MailSender]][]

/** Which service tells of bounces, and the form that connects one. */
export function senderView(
  view: View,
  connected: ConnectedSender | null,
  form: FilledForm,
  operation: string,
): Html {
  return html`<div class="narrow">
    ${heading('Bounces', 'The service that sends your mails tells keyledger which did not arrive, and which were marked as spam.')}
    ${connected && present(view, connected)}
    ${section(
      connected ? 'Connect again' : 'Connect',
      connectForm(view, form, operation),
      connected ? 'The address before it stops working.' : undefined,
    )}
  </div>`
}

const present = (
  { token }: View,
  { sender, connectedAt }: ConnectedSender,
): Html => html`<div class="sheet stack">
  <p>${mailSenders[sender].name} is connected since ${moment(connectedAt)}.</p>
  <form method="post" action=${`${senderPath}/disconnect`}>
    ${tokenField(token)}
    <button class="second">Disconnect</button>
  </form>
</div>`

function connectForm({ token }: View, form: FilledForm, operation: string): Html {
  const wanted = named.flatMap(([, { name, key }]) => (key ? [`${name}: ${key.label}`] : []))
  return html`<form class="sheet stack" method="post" action=${senderPath}>
    ${tokenField(token)} ${formProblem(form)}
    <input type="hidden" name="operation" value=${operation} />
    ${choiceField(form, { name: 'sender', label: 'Service', choices: named.map(([id, { name }]) => [id, name]) })}
    ${textField(form, {
      name: 'key',
      label: 'Key',
      hint: `What its notifications are verified with. ${wanted.join('; ')}. Postmark has none.`,
      type: 'password',
      required: false,
      autocomplete: 'off',
    })}
    <div><button>Connect</button></div>
  </form>`
}

/** The address, which is shown once. */
export const senderAddressView = (sender: MailSender, address: string): Html => html`<div class="narrow">
  ${heading(
    'Address for bounces',
    `Set it at ${mailSenders[sender].name} as the webhook for bounces and complaints. It holds a secret, and is shown only once.`,
  )}
  <div class="sheet stack">
    ${secretBox('Address', address)}
    ${sender === 'amazon_ses' && notice('info', 'Let the notifications of Amazon SES include the original headers: they tell which mail it was.')}
    <p><a class="button second" href=${senderPath}>I have copied it</a></p>
  </div>
</div>`
