import type { WebhookEndpoint } from '../../domain/webhooks/endpoint.ts'

/** What people call an endpoint: its description, or its address. */
export const nameOfEndpoint = ({ description, url }: WebhookEndpoint): string =>
  description === '' ? url : description
