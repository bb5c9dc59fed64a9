/** The client for a vendor's servers: every operation of the management and runtime interface, and webhooks. */
export {
  type Approval,
  type ConfirmOptions,
  createServerClient,
  type ServerClient,
  type ServerClientOptions,
} from './client.ts'
export { KeyledgerError } from './error.ts'
export type { DryRunId } from './operations.ts'
export type {
  Answer,
  CallOptions,
  DryRun,
  GatedId,
  Input,
  OperationId,
  Pages,
  Pending,
} from './types.ts'
export { type ReceivedWebhook, verifyWebhook, type WebhookEvent, WebhookRefused } from './webhooks.ts'
