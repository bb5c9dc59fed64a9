import type { Recorded } from '../../src/domain/recorded.ts'
import { defaultOrdering } from '../../src/domain/webhooks/events.ts'
import { ofCustomRole, ofScim, ofSignInProvider } from './access.ts'
import { type Administration, idOf, lastOf, type Own, tenantOf } from './administered.ts'
import { fieldsOf } from './fields.ts'
import { ofMail, ofWording } from './mail-administration.ts'

/**
 * What an event says about administration. Each event names its fields: hashes, names of secrets and sealed data are
 * left out. A new event does not compile until a case names it.
 * @returns undefined for an event that is no administration
 */
export function administrationIn(entry: Recorded): Administration | undefined {
  switch (entry.category) {
    case 'product':
      return ofProduct(entry)
    case 'token':
      return ofToken(entry)
    case 'reseller':
      return ofReseller(entry)
    case 'member':
      return ofMember(entry)
    case 'role':
      return ofCustomRole(entry)
    case 'tenant':
      return ofTenant(entry)
    case 'signin':
      return ofSignInProvider(entry)
    case 'scim':
      return ofScim(entry)
    case 'webhook':
      return ofWebhook(entry)
    case 'integration':
      return ofIntegration(entry)
    case 'mail':
      return ofMail(entry)
    case 'wording':
      return ofWording(entry)
    case 'portal':
      return ofPortal(entry)
    case 'signing':
      return ofSigning(entry)
    case 'login':
      return ofLogin(entry)
    default:
      return undefined
  }
}

function ofProduct(entry: Own<'product'>): Administration {
  const { event } = entry
  const productId = lastOf(entry)
  const of = { kind: 'product', id: productId, tenantId: tenantOf(entry) } as const
  const keyType = (id: string) => ({ ...of, kind: 'key_type', id: `${productId}/${id}` }) as const
  switch (event.type) {
    case 'ProductCreated': {
      const { name, keyPrefix, settings } = event.data
      return { ...of, action: 'created', fields: fieldsOf({ name, keyPrefix, ...settings }) }
    }
    case 'ProductRenamed':
      return { ...of, action: 'changed', fields: fieldsOf({ name: event.data.name }) }
    case 'KeyPrefixChanged':
      return { ...of, action: 'changed', fields: fieldsOf({ keyPrefix: event.data.keyPrefix }) }
    case 'ProductSettingsChanged':
      return { ...of, action: 'changed', fields: fieldsOf(event.data.settings) }
    case 'KeyTypeAdded':
    case 'KeyTypeChanged': {
      const { keyTypeId, ...rest } = event.data.keyType
      const action = event.type === 'KeyTypeAdded' ? 'created' : 'changed'
      return { ...keyType(keyTypeId), action, fields: fieldsOf(rest), whole: true }
    }
    case 'KeyTypeDeleted':
      return { ...keyType(event.data.keyTypeId), action: 'deleted', fields: null }
    case 'TestModeEnabled': {
      const { publishableKey } = event.data
      return { ...of, action: 'changed', fields: fieldsOf({ testMode: { enabled: true, publishableKey } }) }
    }
    case 'TestModeSwitchedOn':
      return { ...of, action: 'changed', fields: fieldsOf({ testMode: { enabled: true } }) }
    case 'TestModeDisabled': {
      const testMode = { enabled: false, publishableKey: null }
      return { ...of, action: 'changed', fields: fieldsOf({ testMode }) }
    }
    case 'ReleasesListed':
      return { ...of, action: 'releases_listed', fields: fieldsOf({ releases: event.data.releases.length }) }
    case 'PricesVerified':
      return { ...of, action: 'prices_verified', fields: {} }
  }
}

function ofToken(entry: Own<'token'>): Administration {
  const { event } = entry
  const of = { kind: 'token', id: idOf(entry) } as const
  switch (event.type) {
    case 'TokenCreated': {
      const { name, scopes, expiresAt, tenantId } = event.data
      const fields = fieldsOf({ name, scopes, expiresAt, status: 'active' })
      return { ...of, action: 'created', tenantId, fields }
    }
    case 'TokenRevoked':
      return { ...of, action: 'revoked', fields: { status: 'revoked' } }
  }
}

function ofReseller(entry: Own<'reseller'>): Administration | undefined {
  const { event } = entry
  const of = { kind: 'reseller', id: idOf(entry) } as const
  switch (event.type) {
    case 'ResellerCreated':
    case 'ResellerChanged': {
      const { name, quotas } = event.data
      const told = quotas.map(
        ({ productId, keyTypeId, licenses }) => `${productId}/${keyTypeId}: ${licenses}`,
      )
      const fields = fieldsOf({ name, quotas: told })
      if (event.type === 'ResellerChanged') return { ...of, action: 'changed', fields }
      const status = { status: 'open' }
      return { ...of, action: 'created', tenantId: event.data.tenantId, fields: { ...fields, ...status } }
    }
    case 'ResellerClosed':
      return { ...of, action: 'changed', fields: { status: 'closed' } }
    // The license itself says that it was minted, and by whom.
    case 'ResellerLicenseTaken':
    case 'ResellerLicenseReturned':
      return undefined
  }
}

function ofMember(entry: Own<'member'>): Administration {
  const { event } = entry
  const of = { kind: 'member', id: idOf(entry) } as const
  switch (event.type) {
    case 'MemberAdded':
      return {
        ...of,
        action: 'created',
        tenantId: event.data.tenantId,
        fields: fieldsOf({ role: event.data.role }),
      }
    case 'MemberRoleChanged':
      return { ...of, action: 'changed', fields: fieldsOf({ role: event.data.role }) }
    case 'MemberLinkIssued': {
      const { purpose, expiresAt } = event.data
      return {
        ...of,
        action: 'link_issued',
        fields: fieldsOf({ linkPurpose: purpose, linkExpiresAt: expiresAt }),
      }
    }
    case 'MemberProvisioned':
      return { ...of, action: 'provisioned', fields: {} }
    case 'MemberAddressChanged':
      return { ...of, action: 'address_changed', fields: {} }
    case 'MemberDeactivated':
      return { ...of, action: 'changed', fields: fieldsOf({ access: event.data.reason }) }
    case 'MemberReactivated':
      return { ...of, action: 'changed', fields: fieldsOf({ access: 'granted' }) }
    case 'MemberRemoved':
      return { ...of, action: 'deleted', fields: null }
  }
}

function ofTenant(entry: Own<'tenant'>): Administration | undefined {
  const { event } = entry
  const tenantId = idOf(entry)
  const of = { kind: 'tenant', id: null, tenantId } as const
  switch (event.type) {
    case 'TenantCreated': {
      const { name, plan } = event.data
      return { ...of, action: 'created', fields: fieldsOf({ name, plan, status: 'active' }) }
    }
    case 'TenantRenamed':
      return { ...of, action: 'changed', fields: fieldsOf({ name: event.data.name }) }
    case 'TenantSuspended':
      return {
        ...of,
        action: 'changed',
        fields: fieldsOf({ status: 'suspended', reason: event.data.reason }),
      }
    case 'TenantReinstated':
      return { ...of, action: 'changed', fields: fieldsOf({ status: 'active', reason: null }) }
    case 'TenantClosed':
      return { ...of, action: 'changed', fields: fieldsOf({ status: 'closed', reason: event.data.reason }) }
    case 'SdkKeyIssued':
    case 'SdkKeyRotated':
    case 'CheckoutKeyIssued':
    case 'CheckoutKeyRotated': {
      const kind = event.type.startsWith('Sdk') ? 'sdk_key' : 'checkout_key'
      const action = event.type.endsWith('Issued') ? 'created' : 'rotated'
      return { ...of, kind, action, fields: fieldsOf({ key: event.data.displayKey }) }
    }
    case 'ConfirmationLifetimeChanged':
      return { ...of, action: 'changed', fields: fieldsOf({ confirmationSeconds: event.data.seconds }) }
    case 'CustomersByAddressChanged':
      return { ...of, action: 'changed', fields: fieldsOf({ customersByAddress: event.data.isOn }) }
    case 'SignInRuleChanged':
      return { ...of, action: 'changed', fields: fieldsOf({ providersOnly: event.data.providersOnly }) }
    // The projector lists it under its own names.
    case 'ApprovalRuleChanged':
      return undefined
    case 'OnboardingDismissed':
      return { ...of, action: 'onboarding_dismissed', fields: {} }
    case 'SellingElsewhereChosen':
      return { ...of, action: 'selling_elsewhere_chosen', fields: {} }
  }
}

function ofWebhook(entry: Own<'webhook'>): Administration {
  const { event } = entry
  const of = { kind: 'webhook', id: null, tenantId: tenantOf(entry) } as const
  switch (event.type) {
    case 'WebhookConfigured': {
      const { url, events, displaySecret } = event.data
      return { ...of, action: 'created', fields: fieldsOf({ url, events, secret: displaySecret }) }
    }
    case 'WebhookChanged': {
      const { url, events } = event.data
      return { ...of, action: 'changed', fields: fieldsOf({ url, events }) }
    }
    case 'WebhookSecretRotated':
      return { ...of, action: 'rotated', fields: fieldsOf({ secret: event.data.displaySecret }) }
    case 'WebhookRemoved':
      return { ...of, action: 'deleted', fields: null }
    case 'WebhookEndpointAdded': {
      const {
        endpointId: id,
        url,
        events,
        description,
        ordering = defaultOrdering,
        displaySecret,
      } = event.data
      const set = { url, events, description, ordering }
      const fields = fieldsOf({ ...set, secret: displaySecret, status: 'active' })
      return { ...of, id, action: 'created', fields }
    }
    case 'WebhookEndpointChanged': {
      const { endpointId: id, url, events, description, ordering = defaultOrdering } = event.data
      return { ...of, id, action: 'changed', fields: fieldsOf({ url, events, description, ordering }) }
    }
    case 'WebhookEndpointPaused':
    case 'WebhookEndpointResumed': {
      const status = event.type === 'WebhookEndpointPaused' ? 'paused' : 'active'
      return { ...of, id: event.data.endpointId, action: 'changed', fields: fieldsOf({ status }) }
    }
    case 'WebhookEndpointSecretRotated': {
      const { endpointId: id, displaySecret } = event.data
      return { ...of, id, action: 'rotated', fields: fieldsOf({ secret: displaySecret }) }
    }
    case 'WebhookEndpointRemoved':
      return { ...of, id: event.data.endpointId, action: 'deleted', fields: null }
  }
}

function ofIntegration(entry: Own<'integration'>): Administration {
  const { event } = entry
  const provider = lastOf(entry)
  const of = { kind: 'integration', id: provider, tenantId: tenantOf(entry) } as const
  switch (event.type) {
    case 'MarketplaceConnected':
      return { ...of, action: 'connected', fields: fieldsOf({ status: 'connected' }) }
    case 'CardOnboardingStarted': {
      const { accountId } = event.data
      return { ...of, action: 'changed', fields: fieldsOf({ status: 'onboarding', accountId }) }
    }
    case 'CardKeyConnected': {
      const { test } = event.data
      return { ...of, action: 'connected', fields: fieldsOf({ status: 'connected', test }) }
    }
    case 'CardAccountConnected': {
      const { accountId } = event.data
      return { ...of, action: 'connected', fields: fieldsOf({ status: 'connected', accountId }) }
    }
    case 'WebhookSecretRotated':
    case 'PingTokenRotated':
      return { ...of, action: 'rotated', fields: {} }
    case 'ProductMapped': {
      const { productId, mapping } = event.data
      const mapped = { kind: 'mapping', id: `${provider}/${productId}`, whole: true } as const
      return { ...of, ...mapped, action: 'changed', fields: fieldsOf(mapping) }
    }
    case 'UseReportsSwitched':
      return { ...of, action: 'changed', fields: fieldsOf({ useReports: event.data.on }) }
    case 'CreditPacksMapped': {
      const { productId, packs } = event.data
      const mapped = { kind: 'credit_packs', id: `${provider}/${productId}`, whole: true } as const
      return { ...of, ...mapped, action: 'changed', fields: fieldsOf(packs) }
    }
    case 'IntegrationDisconnected':
      return { ...of, action: 'disconnected', fields: null }
  }
}

function ofPortal({ event }: Own<'portal'>): Administration {
  const of = { kind: 'portal', id: null, tenantId: event.data.tenantId } as const
  switch (event.type) {
    case 'PortalSettingsChanged':
      return { ...of, action: 'changed', fields: fieldsOf(event.data.settings) }
    // The picture itself is long, and says nothing in a list of changes; nor do the texts of a language.
    case 'PortalLogoChanged':
      return { ...of, action: event.data.logo ? 'logo_changed' : 'logo_removed', fields: {} }
    case 'LanguageAdded': {
      const { tag: id, name, texts } = event.data
      const fields = fieldsOf({ name, texts: Object.keys(texts).length })
      return { ...of, kind: 'portal_language', id, action: 'changed', fields }
    }
    case 'LanguageRemoved':
      return { ...of, kind: 'portal_language', id: event.data.tag, action: 'deleted', fields: null }
  }
}

function ofSigning({ event }: Own<'signing'>): Administration {
  const { tenantId, kid } = event.data
  const of = { kind: 'signing_key', id: kid, tenantId } as const
  if (event.type === 'SigningKeyPrepared') return { ...of, action: 'created', fields: {} }
  const { signsFrom, preparedAt } = event.data
  const action = preparedAt === undefined ? 'created' : 'changed'
  return { ...of, action, fields: fieldsOf({ signsFrom }) }
}

function ofLogin({ event }: Own<'login'>): Administration {
  const { tenantId, clientName, scopesAsked } = event.data
  const granted = event.type === 'LoginApproved'
  const scopes = granted ? event.data.scopes : scopesAsked
  return {
    kind: 'device_authorization',
    id: granted ? event.data.tokenId : null,
    tenantId,
    action: granted ? 'granted' : 'declined',
    fields: fieldsOf({ client: clientName, scopes }),
  }
}
