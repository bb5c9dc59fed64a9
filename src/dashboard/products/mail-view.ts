import type { PresentProduct } from '../../../projections/products/queries.ts'
import { asText } from '../../domain/mails/content.ts'
import type { MailSettings } from '../../domain/mails/events.ts'
import { builtInContent, builtInSubject } from '../../domain/mails/key-mail.ts'
import { keyPlaceholders } from '../../domain/mails/kinds.ts'
import { type AddedLanguages, languageAmong, languageNames } from '../../domain/portal/languages.ts'
import { type Html, html } from '../../html.ts'
import { type FilledForm, typedIn } from '../forms/filled-form.ts'
import { checkField, choiceField, formProblem, textArea, textField } from '../forms/form-fields.ts'
import { heading, section, tokenField } from '../frame/parts.ts'
import { placeholderTable } from '../mails/placeholders.ts'

type Shown = {
  token: string
  product: PresentProduct
  form: FilledForm
  /** The settings as they are now. */
  saved: MailSettings
  /** Those that the vendor added. */
  languages: AddedLanguages
  /** Null while the portal is closed. */
  portalUrl: string | null
  /** The member's own address; null once their data was erased. */
  email: string | null
  /** The address that every mail is sent from. */
  sender: string
  /** There is no mail server: mails are kept on the host. */
  kept: boolean
}

/** The form of a product's mail, a test of it, and what its texts may contain. */
export function mailSettingsView(shown: Shown): Html {
  const { product } = shown
  return html`<div class="narrow">
    ${heading('Mail', `The email that sends customers of ${product.name} their key after a sale.`)}
    ${formProblem(shown.form)} ${settingsForm(shown)}
    ${section('Test', testForm(shown), 'Uses the last saved settings and sample values.')}
    ${section('Placeholders', placeholderTable(keyPlaceholders), 'They are replaced in the subject, the text and the HTML.')}
    ${section('Built-in text', builtInPart(shown), 'Sent while the fields above are empty.')}
  </div>`
}

function builtInPart({ product, saved, languages, portalUrl }: Shown): Html {
  const { receipt } = saved
  const language = languageAmong(languages, [saved.language])
  const facts = { isOrder: true, sentAgain: product.settings.keyRecovery, portalUrl, receipt }
  return html`<div class="sheet stack">
    <p>Subject: <code>${builtInSubject(language, facts, languages)}</code></p>
    <pre tabindex="0">${asText(builtInContent(language, 'sale', facts, languages))}</pre>
  </div>`
}

function settingsForm({ token, product: { productId }, form, sender, languages }: Shown): Html {
  const names = Object.entries(languages).map(([tag, { name }]) => [tag, name] as const)
  const path = `/dashboard/products/${productId}`
  return html`<form class="sheet stack" method="post" action=${`${path}/mail`}>
    ${tokenField(token)}
    <input type="hidden" name="seen" value=${typedIn(form, 'seen')} />
    ${checkField(form, {
      name: 'enabled',
      label: 'Send customers their key by email',
      hint: 'Turn it off if you send keys yourself, for example from your own shop.',
    })}
    ${textField(form, {
      name: 'fromName',
      label: 'Sender name',
      hint: html`Shown before the workspace name. The sender's address is always <code>${sender}</code>.`,
      required: false,
      maxlength: 200,
    })}
    ${textField(form, {
      name: 'fromEmail',
      label: 'Your email address',
      hint: 'Replies go there, unless you enter another address for them.',
      type: 'email',
      required: false,
      maxlength: 254,
    })}
    ${textField(form, {
      name: 'replyTo',
      label: 'Address for replies',
      hint: 'Leave empty to use your email address.',
      type: 'email',
      required: false,
      maxlength: 254,
    })}
    ${textField(form, {
      name: 'subject',
      label: 'Subject',
      hint: 'Leave empty for the built-in subject.',
      required: false,
      maxlength: 300,
    })}
    ${textArea(form, {
      name: 'text',
      label: 'Text',
      hint: html`Leave empty for the built-in text. It must contain <code>{{license_key}}</code>.`,
      rows: 10,
      required: false,
    })}
    ${textArea(form, {
      name: 'html',
      label: 'HTML',
      hint: 'Optional, in addition to your own text. Placeholders are escaped.',
      rows: 6,
      required: false,
    })}
    ${choiceField(form, {
      name: 'language',
      label: 'Language',
      hint: 'The language of your own texts. The built-in text is in the customer’s language, or in this one if it is unknown.',
      choices: Object.entries(languageNames(Object.fromEntries(names))),
    })}
    ${checkField(form, {
      name: 'receipt',
      label: 'Attach the receipt',
      hint: 'A JSON file that proves that the license is in the signed log. The built-in text explains it.',
    })}
    <div class="decide">
      <button>Save</button>
      <a class="button second" href=${path}>Cancel</a>
    </div>
  </form>`
}

function testForm({ token, product: { productId }, email, kept }: Shown): Html {
  return html`<form class="sheet stack" method="post" action=${`/dashboard/products/${productId}/mail/test`}>
    ${tokenField(token)}
    <p>
      ${
        kept
          ? html`No mail server is configured, so a test mail is kept in the mailbox of this installation.`
          : html`The test mail goes to your own address, <strong>${email}</strong>.`
      }${' '}It contains a sample key.
    </p>
    <div><button class="second">Send test mail</button></div>
  </form>`
}
