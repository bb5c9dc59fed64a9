import { OrganizationRole } from '../../domain/organizations/events.ts'
import type { SignInProvider } from '../../domain/sign-in-providers/provider.ts'
import { type Content, type Html, html } from '../../html.ts'
import { backChannelPath, redirectPath } from '../../http/sign-in-paths.ts'
import type { FilledForm } from '../forms/filled-form.ts'
import { choiceField, formProblem, textArea, textField } from '../forms/form-fields.ts'
import type { View } from '../frame/page.ts'
import { copyable, facts, heading, section, select, table, tokenField } from '../frame/parts.ts'
import { type Roles, roleChoices } from '../members/role-names.ts'

const path = '/dashboard/settings/sign-in'

export const ruleWords = {
  any: 'Password, passkey or provider',
  providers: 'Provider only; owners also with a password or a passkey',
} as const

/** The section on the settings page. */
export function signInSummary(
  { count, providersOnly }: { count: number; providersOnly: boolean },
  mayManage: boolean,
): Html {
  return html`<div class="sheet stack">
    ${facts([
      ['Providers', count === 0 ? 'none' : String(count)],
      ['Ways to sign in', ruleWords[providersOnly ? 'providers' : 'any']],
    ])}
    ${mayManage && html`<div><a class="button second" href=${path}>Change</a></div>`}
  </div>`
}

type Shown = { providers: readonly SignInProvider[]; providersOnly: boolean }

export function signInSettingsView({ token }: View, { providers, providersOnly }: Shown): Html {
  const add = html`<a class="button" href=${`${path}/new`}>Add provider</a>`
  return html`<div>
    ${heading('Single sign-on', 'Providers of OpenID Connect that members and customers sign in with.', add)}
    ${
      providers.length === 0
        ? html`<p class="lead">No providers yet.</p>`
        : html`<div class="sheeted">
            ${table({
              caption: 'Providers',
              columns: [
                { label: 'Provider' },
                { label: 'For' },
                { label: 'Issuer', wide: true },
                { label: 'Email domains' },
              ],
              rows: providers.map(({ providerId, name, audience, issuer, domains }) => [
                html`<a href=${`${path}/${providerId}`}>${name}</a>`,
                audienceWords(audience),
                html`<code>${issuer}</code>`,
                domains.join(', '),
              ]),
            })}
          </div>`
    }
    ${section(
      'Rule',
      html`<form class="sheet stack" method="post" action=${`${path}/rule`}>
        ${tokenField(token)}
        ${select(
          'rule',
          'Ways to sign in',
          (['any', 'providers'] as const).map((value) => ({
            value,
            label: ruleWords[value],
            selected: (value === 'providers') === providersOnly,
          })),
          'With “provider only”, other sessions of members who are not owners end at once. One-time links keep working.',
        )}
        <div><button class="second">Save</button></div>
      </form>`,
      'How members of this workspace sign in.',
    )}
  </div>`
}

/** Whom a provider is for. */
function audienceWords(audience: SignInProvider['audience']): Content {
  if (!audience) return 'Members'
  const { customerId } = audience
  return customerId === null
    ? 'All customers'
    : html`<a href=${`/dashboard/customers/${customerId}`}>One organization</a>`
}

type Target = { action: string; operation: string; button: string }

type Choices = readonly (readonly [role: string, name: string])[]

const organizationRoles: Choices = OrganizationRole.options.map((role) => [role, role])

const settingFields = (form: FilledForm): Html[] => [
  textField(form, {
    name: 'name',
    label: 'Name',
    hint: 'Shown on the button of the sign-in page.',
    maxlength: 60,
  }),
  textField(form, { name: 'clientId', label: 'Client ID', maxlength: 300, autocomplete: 'off' }),
  textArea(form, {
    name: 'domains',
    label: 'Email domains',
    hint: 'The provider may vouch for addresses of these domains, one in each line. Subdomains are separate.',
    rows: 3,
  }),
]

/** What gives roles. @param choices the roles of those whom the provider is for */
const roleFields = (form: FilledForm, choices: Choices): Html[] => [
  textField(form, {
    name: 'roleClaim',
    label: 'Claim with roles (optional)',
    hint: 'For example groups. Without it, people keep the role that they have here.',
    required: false,
    maxlength: 100,
  }),
  textArea(form, {
    name: 'roles',
    label: 'Roles (optional)',
    hint: `One in each line, as value: role. The first that fits counts. Roles are ${choices.map(([, name]) => name).join(', ')}.`,
    required: false,
  }),
  choiceField(form, {
    name: 'defaultRole',
    label: 'Default role',
    hint: 'For people without a mapped value, and for new people without a claim.',
    choices: [['', 'None: refuse them'], ...choices],
  }),
]

/** The roles of those whom a provider is for; customers who are in no organization have none. */
function choicesFor(audience: SignInProvider['audience'], roles: Roles): Choices {
  if (!audience) return roleChoices(roles)
  return audience.customerId === null ? [] : organizationRoles
}

const secretField = (form: FilledForm, label: string, required: boolean): Html =>
  textField(
    { ...form, typed: {} },
    { name: 'clientSecret', label, type: 'password', required, autocomplete: 'off' },
  )

const formOf = (
  { token }: View,
  form: FilledForm,
  { action, operation, button }: Target,
  fields: readonly Html[],
): Html => html`<form class="sheet stack" method="post" action=${action}>
  ${tokenField(token)} ${formProblem(form)}
  <input type="hidden" name="operation" value=${operation} />
  ${fields}
  <div class="decide">
    <button>${button}</button>
    <a class="button second" href=${path}>Cancel</a>
  </div>
</form>`

/** The form of a new provider. */
export function newProviderView(
  view: View,
  tenantId: string,
  roles: Roles,
  form: FilledForm,
  operation: string,
): Html {
  const redirectOf = (audience?: SignInProvider['audience']): Html =>
    html`<code>${view.baseUrl}${redirectPath(tenantId, { providerId: 'ID', ...(audience && { audience }) })}</code>`
  return html`<div class="narrow">
    ${heading('Add provider', html`Register the redirect URI at the provider, with your ID in it: ${redirectOf()} for members, ${redirectOf({ customerId: null })} for customers.`)}
    ${formOf(view, form, { action: path, operation, button: 'Add provider' }, [
      textField(form, {
        name: 'id',
        label: 'ID',
        hint: 'Part of the redirect URI. It never changes.',
        maxlength: 63,
        autocomplete: 'off',
      }),
      textField(form, {
        name: 'issuer',
        label: 'Issuer',
        type: 'url',
        hint: 'Exactly as the provider writes it. It never changes.',
        maxlength: 2048,
      }),
      choiceField(form, {
        name: 'audience',
        label: 'For',
        hint: 'Members sign in to the dashboard, customers to the portal. It never changes.',
        choices: [
          ['members', 'Members'],
          ['customers', 'Customers'],
        ],
      }),
      textField(form, {
        name: 'customerId',
        label: 'Organization (optional)',
        hint: 'The ID of a customer, cus_…, whose people alone sign in. Without it, all customers do, and it gives no roles.',
        required: false,
        maxlength: 100,
        autocomplete: 'off',
      }),
      secretField(form, 'Client secret', true),
      ...settingFields(form),
      ...roleFields(form, [...roleChoices(roles), ...organizationRoles]),
    ])}
  </div>`
}

/** One provider: its addresses, its form, and its deletion. */
export function providerView(
  view: View,
  tenantId: string,
  provider: SignInProvider,
  roles: Roles,
  form: FilledForm,
  operation: string,
): Html {
  const { providerId, issuer, name, audience } = provider
  const at = `${path}/${providerId}`
  const choices = choicesFor(audience, roles)
  return html`<div>
    ${heading(name, html`<code>${issuer}</code>`)}
    <div class="sheet">
      ${facts([
        ['For', audienceWords(audience)],
        ['Redirect URI', copyable('redirect URI', `${view.baseUrl}${redirectPath(tenantId, provider)}`)],
        [
          'Back-channel logout URI',
          copyable('back-channel logout URI', `${view.baseUrl}${backChannelPath(tenantId, providerId)}`),
        ],
        ...(audience
          ? []
          : ([
              [
                'Page after signing out',
                copyable('page after signing out', `${view.baseUrl}/dashboard/sign-in`),
              ],
            ] as const)),
      ])}
    </div>
    ${formOf(view, form, { action: at, operation, button: 'Save' }, [
      ...settingFields(form),
      ...(choices.length > 0 ? roleFields(form, choices) : []),
      secretField(form, 'New client secret (optional)', false),
    ])}
    ${section(
      'Deletion',
      html`<details>
        <summary>Delete provider…</summary>
        <form class="stack-tight" method="post" action=${`${at}/delete`}>
          ${tokenField(view.token)}<input type="hidden" name="operation" value=${operation} />
          <p>Sessions that began at this provider end. Members and the people of organizations stay.</p>
          <div><button class="dangerous">Delete provider</button></div>
        </form>
      </details>`,
    )}
  </div>`
}
