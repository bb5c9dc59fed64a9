#if NETSTANDARD2_0
namespace System.Runtime.CompilerServices;

/// <summary>What the compiler asks for to build records, which netstandard2.0 does not have.</summary>
internal static class IsExternalInit;
#endif
