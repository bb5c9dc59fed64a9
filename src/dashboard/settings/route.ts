import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { readMaskedKeys } from '../../../projections/client-keys.ts'
import { listCustomRoles } from '../../../projections/custom-roles.ts'
import { readScim } from '../../../projections/scim.ts'
import { listSignInProviders } from '../../../projections/sign-in-providers.ts'
import { listSigningKeys } from '../../../projections/signing.ts'
import { findTenant } from '../../../projections/tenants.ts'
import { issueCheckoutKey } from '../../commands/client-keys.ts'
import { momentOf } from '../../commands/origin.ts'
import { shortestLifetimeSeconds } from '../../domain/confirmations/events.ts'
import { may } from '../../domain/members/roles.ts'
import { formOf } from '../forms/forms.ts'
import { pageRoute } from '../frame/page-route.ts'
import { mailTemplatePages } from '../mails/route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import { approvalRulePages } from './approval-rule-route.ts'
import { customerSettingPages } from './customers-route.ts'
import { directorySettingPages } from './directory-route.ts'
import { namePages } from './name-route.ts'
import { sdkKeyPages } from './sdk-key-route.ts'
import { signInSettingPages } from './sign-in-route.ts'
import { signingKeyPages } from './signing-keys-route.ts'
import { checkoutKeyView, madeCheckoutKeyView, settingsView } from './view.ts'

const manage = pageRoute({ page: 'manage_connections' })
const manageForm = pageRoute({ page: 'manage_connections', proof: 'send' })

const path = '/dashboard/settings'

export function settingPages(app: FastifyInstance, context: PageContext): void {
  const { ports, show } = context

  app.get('/settings', pageRoute({ page: 'integrations:read' }), async (request, reply) => {
    const principal = principalOf(request)
    const keys = await readMaskedKeys(ports.db, principal.tenantId)
    const tenant = await findTenant(ports.db, principal.tenantId)
    const { providers } = await listSignInProviders(ports.db, principal.tenantId)
    const { scim } = await readScim(ports.db, principal.tenantId)
    const { roles } = await listCustomRoles(ports.db, principal.tenantId)
    const signingKeys = await listSigningKeys(ports.db, principal.tenantId, momentOf(ports))
    return show(reply, {
      title: 'Settings',
      nav: 'settings',
      content: (view) =>
        settingsView(view, {
          principal,
          ...keys,
          signingKeys,
          approvals: {
            anotherMember: tenant?.anotherMemberApproves ?? false,
            confirmationSeconds: tenant?.confirmationSeconds ?? shortestLifetimeSeconds,
          },
          signIn: { count: providers.length, providersOnly: tenant?.providersOnly ?? false },
          scim,
          roles,
          customersByAddress: !tenant?.noCustomersByAddress,
          mayManage: may(principal.role, 'manage_settings'),
          mayChangeRule: may(principal.role, 'manage_members'),
          mayConnect: may(principal.role, 'manage_connections'),
          mayWord: may(principal.role, 'manage_products'),
        }),
    })
  })

  namePages(app, context)
  checkoutKeyPages(app, context)
  sdkKeyPages(app, context)
  signingKeyPages(app, context)
  approvalRulePages(app, context)
  signInSettingPages(app, context)
  directorySettingPages(app, context)
  customerSettingPages(app, context)
  mailTemplatePages(app, context)
}

/** The form names the key to replace, so that sending it twice replaces one key only. */
const CheckoutForm = z.object({ replaces: z.string().max(100) })

function checkoutKeyPages(app: FastifyInstance, { ports, show }: PageContext): void {
  const present = async (tenantId: string) => (await readMaskedKeys(ports.db, tenantId)).checkoutKey

  app.get('/settings/checkout-key', manage, async (request, reply) => {
    const checkoutKey = await present(principalOf(request).tenantId)
    return show(reply, {
      title: 'Checkout key',
      nav: 'settings',
      content: ({ token }) => checkoutKeyView(token, checkoutKey),
    })
  })

  app.post('/settings/checkout-key', manageForm, async (request, reply) => {
    const { tenantId } = principalOf(request)
    const { replaces } = formOf(CheckoutForm, request)
    if (replaces !== ((await present(tenantId))?.issuedAt ?? 'none')) {
      const text =
        'A new checkout key was created in the meantime and is shown only once. If it is lost, create another.'
      return redirectWith(reply, path, { kind: 'wrong', text })
    }
    const { checkoutKey } = await issueCheckoutKey(ports, tenantId, originOfMember(request))
    return show(reply, {
      title: 'Checkout key',
      nav: 'settings',
      content: () => madeCheckoutKeyView(checkoutKey),
    })
  })
}
