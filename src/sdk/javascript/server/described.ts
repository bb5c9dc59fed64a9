/**
 * The fields of each operation, by its id: `input` has those of the path, the query and the body together, `answer` the
 * answer to a success. In the package, the build writes them here from the OpenAPI document.
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled in the package
export interface Described {}
