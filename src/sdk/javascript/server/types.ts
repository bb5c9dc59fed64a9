import type { Described } from './described.ts'
import type { operations } from './operations.ts'

export type OperationId = keyof typeof operations

type Flags<Id extends OperationId> = (typeof operations)[Id]

/** The fields that a call takes. */
export type Input<Id extends OperationId> = Id extends keyof Described
  ? Described[Id] extends { input: infer Fields }
    ? Fields
    : never
  : Readonly<Record<string, unknown>>

/** What a call answers. */
export type Answer<Id extends OperationId> = Id extends keyof Described
  ? Described[Id] extends { answer: infer Fields }
    ? Fields
    : never
  : unknown

/** The operations that need a person's approval. */
export type GatedId = {
  [Id in OperationId]: Flags<Id> extends `${string} gated` ? Id : never
}[OperationId]

/** The answer to a gated call before a person has approved it. */
export type Pending = {
  confirmation: { id: string; status: 'pending'; approveUrl: string; expiresInSeconds: number }
}

/** What a call would change now; nothing was changed. */
export type DryRun = {
  dryRun: true
  /** What the call would be refused with; then nothing would change. */
  wouldBeRefused: { status: number; error: string; code: string } | null
  /** The licenses, devices, entitlements, webhooks and other things that would change, as the API describes them. */
  effect: Readonly<Record<string, unknown>>
  /** The effect in words. */
  sentences: string[]
}

/** The items of a list, page by page. `page` reads one page and leaves the following to the caller. */
export type Pages<Item> = AsyncIterable<Item> & {
  page(): Promise<{ items: Item[]; nextCursor: string | null }>
}

type ItemOf<Page> = Page extends { items: readonly (infer Item)[] } ? Item : unknown

type Result<Id extends OperationId> =
  Flags<Id> extends `${string} paged`
    ? Pages<ItemOf<Answer<Id>>>
    : Promise<Flags<Id> extends `${string} gated` ? Answer<Id> | Pending : Answer<Id>>

export type CallOptions = {
  /** Instead of a random one: the same order number always gets the same license. */
  idempotencyKey?: string
  /** The id of an approved confirmation; `confirm` sends it by itself. */
  confirmation?: string
  signal?: AbortSignal
}

/** A method for each operation, with its id as its name. Fields of path, query and body are given together. */
export type Methods = {
  [Id in OperationId]: Record<never, never> extends Input<Id>
    ? (input?: Input<Id>, options?: CallOptions) => Result<Id>
    : (input: Input<Id>, options?: CallOptions) => Result<Id>
}
