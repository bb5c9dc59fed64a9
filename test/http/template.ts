/** The path template of the OpenAPI document that matches a request's path. */
export function templateOf(url: string): string {
  return url
    .replace(/\?.*$/, '')
    .replace(/(\/products\/)[^/]+/, '$1{productId}')
    .replace(/(\/key-types\/)(?!verify-prices)[^/]+/, '$1{keyTypeId}')
    .replace(/(\/licenses\/)lic_[^/]+/, '$1{id}')
    .replace(/(\/meters\/)[^/]+/, '$1{meter}')
    .replace(/(\/credits\/)[^/]+/, '$1{creditId}')
    .replace(/(\/customers\/)[^/]+/, '$1{id}')
    .replace(/(\/resellers\/)[^/]+/, '$1{id}')
    .replace(/(\/notes\/)[^/]+/, '$1{noteId}')
    .replace(/(\/people\/)[^/]+/, '$1{personId}')
    .replace(/(\/mail-templates\/)(?!preview)[^/]+/, '$1{templateId}')
    .replace(/(\/confirmations\/)cnf_[^/]+/, '$1{id}')
    .replace(/(\/deliveries\/)whd_[^/]+/, '$1{id}')
    .replace(/(\/webhook-endpoints\/)[^/]+/, '$1{id}')
    .replace(/(\/sign-in-providers\/)[^/]+/, '$1{id}')
    .replace(/(\/replays\/)whr_[^/]+/, '$1{id}')
    .replace(/(\/test-purchase\/)tp_[^/]+/, '$1{id}')
    .replace(/(\/sales\/)sal_[^/]+/, '$1{id}')
    .replace(/(\/tokens\/)tok_[^/]+/, '$1{id}')
    .replace(/(\/integrations\/)[^/]+/, '$1{provider}')
}
