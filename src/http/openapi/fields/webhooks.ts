import type { Fields } from './descriptions.ts'

/** Webhook endpoints, what is delivered to them, and how apps verify what is signed. */
export const webhookFields: Fields = {
  event: { description: 'The name of the event', example: 'license.activated' },
  version: {
    description: 'The version of the shape of the payload. Within a version only new fields are added',
    example: '2026-11-01',
  },
  created: { description: 'When the event happened, in Unix seconds', example: 1_795_253_400 },
  endpointId: {
    description: 'The id of the webhook endpoint; `first` is the endpoint of `/v1/webhook`',
    example: 'first',
  },
  host: { description: "The host in the endpoint's URL", example: 'hooks.acme.example' },
  nextAttemptAt: { description: 'When it is tried again', orNull: 'if it is not', example: null },
  endedAt: {
    description: 'When it ended',
    orNull: 'while it has not',
    example: '2026-11-21T09:30:01.000Z',
  },
  pausedAt: { description: 'When it was paused', orNull: 'while it is not', example: null },
  kid: { description: 'The id of the signing key in the keyset of the tenant', example: '21fe31dfa154a261' },
  licenseKeyHash: {
    description: 'Hex SHA-256 of the normalized license key',
    example: '83e0ef2aa45fe29b80ae2717410acfb16bf300570bf7bd18c8e1cbfb2df1cee6',
  },
  issuedAt: { description: 'When it was signed, in Unix seconds', example: 1_795_253_400 },
  freeTierEnabled: {
    description: 'Whether the app may be used without a license, in its free tier',
    example: false,
  },
  received: { description: 'Always true: it was received', example: true },
}
