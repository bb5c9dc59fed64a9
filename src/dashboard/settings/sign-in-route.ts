import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { listCustomRoles } from '../../../projections/custom-roles.ts'
import { listSignInProviders } from '../../../projections/sign-in-providers.ts'
import { findTenant } from '../../../projections/tenants.ts'
import { changeSignInRule } from '../../commands/tenants.ts'
import { newId } from '../../credentials/id.ts'
import type { SignInProvider } from '../../domain/sign-in-providers/provider.ts'
import {
  addSignInProvider,
  changeSignInProvider,
  deleteSignInProvider,
  requireProvider,
} from '../../gate/operations/sign-in-providers.ts'
import { type FilledForm, newForm, readForm } from '../forms/filled-form.ts'
import { formOf } from '../forms/forms.ts'
import { refusedForm } from '../forms/refused.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { Roles } from '../members/role-names.ts'
import type { PageContext } from '../page-context.ts'
import { runOperation } from '../run-operation.ts'
import { originOfMember, principalOf } from '../session/principal.ts'
import { redirectWith } from '../session/redirect-with.ts'
import {
  fieldOf,
  formOfProvider,
  newProviderForm,
  OperationForm,
  providerForm,
  RuleForm,
} from './sign-in-form.ts'
import { newProviderView, providerView, ruleWords, signInSettingsView } from './sign-in-view.ts'

const manage = pageRoute({ page: 'manage_members' })
const manageForm = pageRoute({ page: 'manage_members', proof: 'send' })
/** A form with a secret is not held while it asks for the proof. */
const withSecret = pageRoute({ page: 'manage_members', proof: 'open' })

const path = '/settings/sign-in'
const back = `/dashboard${path}`

type OneRequest = FastifyRequest<{ Params: { id: string } }>

/** Where owners say which providers members and customers sign in with. */
export function signInSettingPages(app: FastifyInstance, context: PageContext): void {
  const { ports, show } = context
  app.get(path, manage, async (request, reply) => {
    const { tenantId } = principalOf(request)
    const { providers } = await listSignInProviders(ports.db, tenantId)
    const tenant = await findTenant(ports.db, tenantId)
    const providersOnly = tenant?.providersOnly ?? false
    return show(reply, {
      title: 'Single sign-on',
      nav: 'settings',
      content: (view) => signInSettingsView(view, { providers, providersOnly }),
    })
  })

  app.post(`${path}/rule`, manageForm, async (request, reply) => {
    const { rule } = formOf(RuleForm, request)
    const { tenantId } = principalOf(request)
    await changeSignInRule(ports, tenantId, rule === 'providers', originOfMember(request))
    return redirectWith(reply, back, `Ways to sign in: ${ruleWords[rule]}.`)
  })

  addPages(app, context)
  onePages(app, context)
}

function addPages(app: FastifyInstance, context: PageContext): void {
  const form = async (request: FastifyRequest, reply: FastifyReply, filled: FilledForm) => {
    const { tenantId } = principalOf(request)
    const { roles } = await listCustomRoles(context.ports.db, tenantId)
    return context.show(reply, {
      title: 'Add provider',
      nav: 'settings',
      content: (view) => newProviderView(view, tenantId, roles, filled, newId('req')),
      form: filled,
    })
  }

  app.get(`${path}/new`, withSecret, async (request, reply) => form(request, reply, newForm()))

  app.post(path, withSecret, async (request, reply) => {
    const { roles } = await listCustomRoles(context.ports.db, principalOf(request).tenantId)
    const { filled, data } = readForm(newProviderForm(roles), request)
    if (!data) return form(request, reply, filled)
    const { operation, ...body } = data
    try {
      const { providerId } = await runOperation(context, request, addSignInProvider, operation, { body })
      return redirectWith(reply, `${back}/${providerId}`, 'Provider added. Sign in with it to try it.')
    } catch (error) {
      return form(request, reply, refusedForm(error, filled, fieldOf))
    }
  })
}

function onePages(app: FastifyInstance, context: PageContext): void {
  const { ports, show } = context
  const form = (
    request: FastifyRequest,
    reply: FastifyReply,
    { provider, roles }: { provider: SignInProvider; roles: Roles },
    filled: FilledForm,
  ) =>
    show(reply, {
      title: provider.name,
      nav: 'settings',
      content: (view) =>
        providerView(view, principalOf(request).tenantId, provider, roles, filled, newId('req')),
      form: filled,
    })
  const known = async (request: OneRequest) => {
    const { tenantId } = principalOf(request)
    const provider = await requireProvider(ports, tenantId, request.params.id)
    return { provider, ...(await listCustomRoles(ports.db, tenantId)) }
  }

  app.get(`${path}/:id`, withSecret, async (request: OneRequest, reply) => {
    const shown = await known(request)
    return form(request, reply, shown, formOfProvider(shown.provider, shown.roles))
  })

  app.post(`${path}/:id`, withSecret, async (request: OneRequest, reply) => {
    const shown = await known(request)
    const { filled, data } = readForm(providerForm(shown.roles), request)
    if (!data) return form(request, reply, shown, filled)
    const { operation, ...body } = data
    const input = { parameters: { id: shown.provider.providerId }, body }
    try {
      await runOperation(context, request, changeSignInProvider, operation, input)
      return redirectWith(reply, back, 'Provider saved.')
    } catch (error) {
      return form(request, reply, shown, refusedForm(error, filled, fieldOf))
    }
  })

  app.post(`${path}/:id/delete`, manageForm, async (request: OneRequest, reply) => {
    const { id } = request.params
    const { operation } = formOf(OperationForm, request)
    await runOperation(context, request, deleteSignInProvider, operation, { parameters: { id } })
    return redirectWith(reply, back, 'Provider deleted.')
  })
}
