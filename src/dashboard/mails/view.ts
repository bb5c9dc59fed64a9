import { type MailKind, mailKinds } from '../../domain/mails/kinds.ts'
import { mailSenders } from '../../domain/mails/senders.ts'
import type { PlacedTemplate } from '../../domain/mails/wording-events.ts'
import { templateId, type Wordings } from '../../domain/mails/wordings.ts'
import type { LanguageNames, PortalLanguage } from '../../domain/portal/languages.ts'
import { type Content, type Html, html } from '../../html.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { checkField, formProblem, textArea, textField } from '../forms/form-fields.ts'
import type { Crumb } from '../frame/navigation.ts'
import type { View } from '../frame/page.ts'
import { choicesOf, heading, productSelect, section, select, table, tokenField } from '../frame/parts.ts'
import { placeholderTable } from './placeholders.ts'

export const mailsPath = '/dashboard/settings/mails'

/** Where the service that tells of bounces is connected. */
export const senderPath = `${mailsPath}/sender`

/** The page above the pages of mails. */
export const settings: Crumb = { label: 'Settings', href: '/dashboard/settings' }

type Product = { productId: string; name: string }

/** What templates can be for. */
export type Choices = { products: readonly Product[]; languages: LanguageNames }

/** What a template is for. */
export type Place = { kind: MailKind; product: Product | null; language: PortalLanguage | null }

/** The page of a template. */
export const templatePath = ({ kind, product, language }: Place): string =>
  `${mailsPath}/${templateId({ kind, productId: product?.productId ?? null, language })}`

const actionPath = (place: Place, action: string): string => `${templatePath(place)}/${action}`

/** The section on the settings page. */
export const mailsSummary = (mayManage: boolean, mayConnect: boolean): Html => html`<div class="sheet stack">
  <p>Mails about keys, ends, payments and usage have built-in texts in English, German and the languages that you add to the portal, until you write your own.</p>
  ${
    (mayManage || mayConnect) &&
    html`<div class="actions">
    ${mayManage && html`<a class="button second" href=${mailsPath}>Change</a>`}
    ${mayConnect && html`<a class="button second" href=${senderPath}>Bounces</a>`}
  </div>`
  }
</div>`

/** All mails with their templates, and what they have in common. */
export function mailsView(
  view: View,
  { templates, sender }: Wordings,
  { products, languages }: Choices,
  form: FilledForm,
): Html {
  const named = new Map(products.map((product) => [product.productId, product]))
  const own = (kind: MailKind): Content => {
    const found = Object.values(templates).filter((template) => template.kind === kind)
    if (found.length === 0) return 'built-in text'
    return html`<ul class="plain">
      ${found.map((template) => html`<li>${templateLink(template, named, languages)}</li>`)}
    </ul>`
  }
  const kinds = Object.entries(mailKinds) as [MailKind, (typeof mailKinds)[MailKind]][]
  return html`<div>
    ${heading('Mails', 'What your customers read, by product and language.')}
    <div class="sheeted">
      ${table({
        caption: 'Mails',
        columns: [{ label: 'Mail' }, { label: 'Your texts' }],
        rows: kinds.map(([kind, { title, when }]): Content[] => [
          html`<span><a href=${templatePath({ kind, product: null, language: null })}>${title}</a><span class="sub">${when}</span></span>`,
          own(kind),
        ]),
      })}
    </div>
    ${section('All mails', styleForm(view, form), 'What every mail to your customers has, besides its text.')}
    ${view.may('manage_connections') && section('Bounces', bounces(sender), 'Mails that did not arrive, or were marked as spam.')}
  </div>`
}

const bounces = (sender: Wordings['sender']): Html => html`<div class="sheet stack">
  <p>${sender ? `${mailSenders[sender.sender].name} tells which mails bounced.` : 'No service that tells of bounces is connected.'}</p>
  <div><a class="button second" href=${senderPath}>${sender ? 'Change' : 'Connect'}</a></div>
</div>`

function templateLink(
  template: PlacedTemplate,
  products: ReadonlyMap<string, Product>,
  languages: LanguageNames,
): Html {
  const { kind, productId, language } = template
  const product = productId === null ? null : (products.get(productId) ?? { productId, name: productId })
  const words = [
    product?.name ?? 'All products',
    language ? (languages[language] ?? `${language} (removed)`) : 'every language',
  ]
  return html`<a href=${templatePath({ kind, product, language })}>${words.join(', ')}</a>`
}

const styleForm = ({ token }: View, form: FilledForm): Html =>
  html`<form class="sheet stack" method="post" action=${`${mailsPath}/style`}>
    ${tokenField(token)} ${formProblem(form)}
    ${textField(form, {
      name: 'replyTo',
      label: 'Address for replies',
      hint: 'For products whose mail settings name none.',
      type: 'email',
      required: false,
      maxlength: 254,
    })}
    ${textArea(form, {
      name: 'footer',
      label: 'Footer',
      hint: 'The last lines of every mail, such as your address. Plain text.',
      rows: 3,
      required: false,
    })}
    ${checkField(form, { name: 'logo', label: 'Show the logo of the customer portal', hint: 'At the top of the mail.' })}
    <div><button>Save</button></div>
  </form>`

/** The editor of a template, with the mail beside it. */
export function templateView(
  view: View,
  place: Place,
  shown: Choices & { exists: boolean; mayTest: boolean },
  form: FilledForm,
): Html {
  const { title, when, placeholders } = mailKinds[place.kind]
  return html`<div>
    ${heading(title, when)}
    ${placeForm(view, place, shown)}
    <div class="beside">
      ${section('Your text', editor(view, place, form), shown.exists ? undefined : 'Not written yet: the mail beside it is sent.')}
      ${section(
        'Preview',
        html`<iframe class="mail-preview" name="preview" title="Preview" src=${actionPath(place, 'preview')}></iframe>
          <p class="after"><a href=${actionPath(place, 'preview-text')} target="preview">Plain text</a> of what is saved</p>`,
        'With made-up values, by what writes the mails to customers.',
      )}
    </div>
    ${actionsOf(view, place, shown)}
    ${section(
      'Placeholders',
      placeholderTable(placeholders),
      'They are replaced in the subject, the text and the HTML.',
    )}
    <p class="after"><a class="button second" href=${mailsPath}>All mails</a></p>
  </div>`
}

/** Chooses what the template is for. */
function placeForm(
  { token }: View,
  { kind, product, language }: Place,
  { products, languages }: Choices,
): Html {
  return html`<form class="inline-form" method="post" action=${`${mailsPath}/open`}>
    ${tokenField(token)}
    <input type="hidden" name="kind" value=${kind} />
    ${productSelect(products, product?.productId)}
    ${select('language', 'Language', choicesOf('Every language', Object.entries(languages), language ?? undefined))}
    <button class="second">Open</button>
  </form>`
}

function editor({ token }: View, place: Place, form: FilledForm): Html {
  const preview = (action: string, label: string) =>
    html`<button class="second" formaction=${actionPath(place, action)} formtarget="preview">${label}</button>`
  return html`<form class="sheet stack" method="post" action=${templatePath(place)}>
    ${tokenField(token)} ${formProblem(form)}
    ${textField(form, { name: 'subject', label: 'Subject', required: true, maxlength: 300 })}
    ${textArea(form, { name: 'text', label: 'Text', hint: 'Paragraphs are separated by empty lines.', rows: 12 })}
    ${textArea(form, {
      name: 'html',
      label: 'HTML',
      hint: 'Leave empty to show the text in the frame of the built-in mails. Placeholders are escaped.',
      rows: 6,
      required: false,
    })}
    <div class="decide">
      <button>Save</button>
      ${preview('preview', 'Preview')} ${preview('preview-text', 'Preview as plain text')}
    </div>
  </form>`
}

function actionsOf(
  { token }: View,
  place: Place,
  { exists, mayTest }: { exists: boolean; mayTest: boolean },
): Content {
  const form = (action: string, label: string) =>
    html`<form method="post" action=${actionPath(place, action)}>
      ${tokenField(token)}
      <button class="second">${label}</button>
    </form>`
  if (!exists && !mayTest) return null
  return html`<div class="actions after">
    ${mayTest && form('test', 'Send a test of what is saved to me')}
    ${exists && form('remove', 'Remove this text')}
  </div>`
}
