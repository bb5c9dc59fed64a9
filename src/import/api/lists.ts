/** One list of an API, read page by page. */
export type ApiList = {
  /** The name of the file that its pages are kept in. */
  list: string
  /** What it belongs to, such as the policy of a list of entitlements. */
  of: string | null
  /** The path and query of its first page. */
  first: string
}

/** What is known after a page. */
type PageInfo = {
  /** The path and query of the next page; null after the last one. */
  next: string | null
  /** How many pages the list has; undefined if the API does not tell. */
  pages?: number | undefined
}

/** What the operator chose. */
export type ApiChoice = {
  /** The account or store; empty if the API needs none. */
  account: string
  /** Whether the entitlements of single licenses are asked for, with one call for each license. */
  licenseEntitlements: boolean
}

/** How the API of a system is read. */
export type ApiLists = {
  /** Where it is, unless the operator says otherwise. */
  baseUrl: string
  accept: string
  needsAccount: boolean
  /**
   * Its lists in order; a later one may depend on what an earlier one brought. Resumed downloads ask again, so the same
   * objects must lead to the same lists.
   * @param fetched the objects of an earlier list
   */
  lists(choice: ApiChoice, fetched: (list: string) => AsyncIterable<unknown>): AsyncIterable<ApiList>
  /** @param body the page, parsed */
  pageInfo(list: ApiList, page: number, body: unknown): PageInfo
}
