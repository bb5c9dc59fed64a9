import type { ShownPortal } from '../../../projections/portal.ts'
import { type BuiltInLanguage, builtInLanguages, builtInNames } from '../../domain/portal/languages.ts'
import { builtInText, type PortalTextKey, placeholdersIn, portalTextKeys } from '../../domain/portal/texts.ts'
import { type Html, html } from '../../html.ts'
import { capitalized } from '../../sentence.ts'
import { type FilledForm, typedIn } from '../forms/filled-form.ts'
import { checkField, formProblem, textArea, textField } from '../forms/form-fields.ts'
import { heading, section, tokenField } from '../frame/parts.ts'

const path = '/dashboard/portal'

type Shown = {
  token: string
  form: FilledForm
  portal: ShownPortal
  /** The address of the portal. */
  url: string
  /** What is wrong with the picture that was sent. */
  logoProblem: string | undefined
  /** The form of a language to add. */
  languages: FilledForm
}

/** How the portal looks, and whether it is open. */
export function portalView({ token, form, portal, url, logoProblem, languages }: Shown): Html {
  const { settings } = portal
  const actions = settings.enabled && [html`<a class="button second" href=${url}>Open the portal</a>`]
  return html`<div class="narrow">
    ${heading(
      'Portal',
      'Where your customers see their licenses, remove a device, and get their key again.',
      actions,
    )}
    ${formProblem(form)}
    <form class="sheet stack" method="post" action=${path}>
      ${tokenField(token)}
      <input type="hidden" name="seen" value=${typedIn(form, 'seen')} />
      ${checkField(form, {
        name: 'enabled',
        label: 'The portal is open',
        hint: html`At <code>${url}</code>. Customers sign in with a link that is mailed to the address of their license.`,
      })}
      ${textField(form, {
        name: 'name',
        label: 'Name',
        hint: 'As your customers know you. Leave empty for the name of the workspace.',
        required: false,
        maxlength: 200,
      })}
      ${textField(form, {
        name: 'supportEmail',
        label: 'Support address',
        hint: 'Where customers write when they need help.',
        required: false,
        type: 'email',
        maxlength: 254,
      })}
      ${textField(form, {
        name: 'accentColor',
        label: 'Color',
        hint: html`Of links and buttons, such as <code>#0d5c4f</code>. On dark pages it is shown lighter.`,
        required: false,
        maxlength: 7,
      })}
      <div class="decide"><button>Save</button></div>
    </form>
    ${section('Logo', logoSheet(token, portal, logoProblem), 'It is shown at the top of each page.')}
    ${section(
      'Texts',
      html`<div class="sheet">
        <ul class="stack-tight">
          ${builtInLanguages.map((language) => {
            const own = Object.keys(settings.texts[language] ?? {}).length
            return html`<li>
              <a href=${`${path}/texts/${language}`}>${builtInNames[language]}</a>
              <span class="sub">${own === 0 ? 'built-in texts' : `${own} of your own`}</span>
            </li>`
          })}
        </ul>
      </div>`,
      'You can replace every text of the portal and of its email.',
    )}
    ${section('Other languages', languageSheet(token, portal, languages), 'Customers choose them in the portal, and get their mails in them.')}
    ${section(
      'What customers may do',
      html`<div class="sheet"><p>Each product says how many devices its customers may remove, and whether they may replace their key: <a href="/dashboard/products">Products</a>.</p></div>`,
    )}
  </div>`
}

function logoSheet(token: string, { logo }: ShownPortal, problem: string | undefined): Html {
  return html`<div class="sheet stack">
    ${logo && html`<p><img class="portal-logo" src=${`${path}/logo?v=${logo.hash}`} alt="Current logo" /></p>`}
    <form class="stack" method="post" action=${`${path}/logo`} enctype="multipart/form-data">
      ${tokenField(token)}
      <div class="field">
        <label for="logo">Picture</label>
        <p class="hint" id="logo-hint">PNG, JPEG or WebP, up to 100 kB. It is shown 40 pixels high.</p>
        <input
          type="file"
          id="logo"
          name="logo"
          accept="image/png,image/jpeg,image/webp"
          required
          aria-describedby=${problem ? 'logo-hint logo-error' : 'logo-hint'}
          aria-invalid=${problem ? 'true' : undefined}
        />
        ${problem && html`<p class="error" id="logo-error">${problem}</p>`}
      </div>
      <div><button class="second">Upload</button></div>
    </form>
    ${
      logo &&
      html`<form method="post" action=${`${path}/logo/remove`}>
        ${tokenField(token)}
        <button class="second">Remove logo</button>
      </form>`
    }
  </div>`
}

function languageSheet(token: string, { addedLanguages }: ShownPortal, form: FilledForm): Html {
  const added = Object.entries(addedLanguages)
  const file = form.problems.file
  return html`<div class="sheet stack">
    ${
      added.length > 0 &&
      html`<ul class="stack-tight">
        ${added.map(
          ([tag, name]) => html`<li class="inline-form">
            <a href=${`${path}/languages/${tag}`} download lang=${tag}>${name}</a> <code>${tag}</code>
            <form method="post" action=${`${path}/languages/${tag}/remove`}>
              ${tokenField(token)}
              <button class="second" aria-label=${`Remove ${name}`}>Remove</button>
            </form>
          </li>`,
        )}
      </ul>`
    }
    <p>
      Download the texts in <a href=${`${path}/languages/en`} download>English</a> or${' '}
      <a href=${`${path}/languages/de`} download>German</a>, translate the file, and upload it. Texts that it lacks are in English.
      Words in braces are filled in, and stay as they are. An upload replaces all texts of its language.
    </p>
    ${formProblem(form)}
    <form class="stack" method="post" action=${`${path}/languages`} enctype="multipart/form-data">
      ${tokenField(token)}
      ${textField(form, {
        name: 'tag',
        label: 'Language',
        hint: html`Its tag, such as <code>fr</code>, or <code>pt-BR</code> with a region.`,
        required: true,
        maxlength: 16,
      })}
      <div class="field">
        <label for="file">File</label>
        <input
          type="file"
          id="file"
          name="file"
          accept="application/json,.json"
          required
          aria-describedby=${file ? 'file-error' : undefined}
          aria-invalid=${file ? 'true' : undefined}
        />
        ${file && html`<p class="error" id="file-error">${file}</p>`}
      </div>
      <div><button class="second">Upload</button></div>
    </form>
  </div>`
}

/** `signedInAs` is read as `Signed in as`. */
function labelOf(key: PortalTextKey): string {
  const words = key.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return capitalized(words)
}

/** The texts of one language. */
export function textsView(token: string, language: BuiltInLanguage, form: FilledForm): Html {
  return html`<div class="narrow">
    ${heading(`Texts: ${builtInNames[language]}`, 'Leave a field empty to use the built-in text.')}
    ${formProblem(form)}
    <form class="sheet stack" method="post" action=${`${path}/texts/${language}`}>
      ${tokenField(token)}
      <input type="hidden" name="seen" value=${typedIn(form, 'seen')} />
      ${portalTextKeys.map((key) => {
        const text = builtInText(language, key)
        const names = placeholdersIn(text).map((name) => `{${name}}`)
        return textArea(form, {
          name: key,
          label: labelOf(key),
          hint: html`<span><span lang=${language}>${text}</span>${names.length > 0 && html`<br />Filled in: ${names.join(', ')}`}</span>`,
          rows: key === 'mailText' ? 8 : 2,
          required: false,
        })
      })}
      <div class="decide">
        <button>Save</button>
        <a class="button second" href=${path}>Cancel</a>
      </div>
    </form>
  </div>`
}
