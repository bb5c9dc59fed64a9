using System;
using System.Collections.Generic;
using System.Text;

namespace Keyledger.Client.Text;

/// <summary>
/// Upper case as JavaScript has it, which .NET has not: its invariant form maps one character to one, and leaves out some. The tables
/// are those of Unicode, apart from ASCII and from what NFKC has already replaced.
/// </summary>
internal static class UpperCase
{
    /// <summary>First and last code point, step, and what is added.</summary>
    private static readonly int[,] ranges =
    {
        {0xb5,0xb5,1,743}, {0xe0,0xf6,1,-32}, {0xf8,0xfe,1,-32}, {0xff,0xff,1,121}, {0x101,0x12f,2,-1},
        {0x131,0x131,1,-232}, {0x133,0x137,2,-1}, {0x13a,0x148,2,-1}, {0x14b,0x177,2,-1}, {0x17a,0x17e,2,-1},
        {0x17f,0x17f,1,-300}, {0x180,0x180,1,195}, {0x183,0x185,2,-1}, {0x188,0x188,1,-1}, {0x18c,0x18c,1,-1},
        {0x192,0x192,1,-1}, {0x195,0x195,1,97}, {0x199,0x199,1,-1}, {0x19a,0x19a,1,163}, {0x19b,0x19b,1,42561},
        {0x19e,0x19e,1,130}, {0x1a1,0x1a5,2,-1}, {0x1a8,0x1a8,1,-1}, {0x1ad,0x1ad,1,-1}, {0x1b0,0x1b0,1,-1},
        {0x1b4,0x1b6,2,-1}, {0x1b9,0x1b9,1,-1}, {0x1bd,0x1bd,1,-1}, {0x1bf,0x1bf,1,56}, {0x1c5,0x1c5,1,-1},
        {0x1c6,0x1c6,1,-2}, {0x1c8,0x1c8,1,-1}, {0x1c9,0x1c9,1,-2}, {0x1cb,0x1cb,1,-1}, {0x1cc,0x1cc,1,-2},
        {0x1ce,0x1dc,2,-1}, {0x1dd,0x1dd,1,-79}, {0x1df,0x1ef,2,-1}, {0x1f2,0x1f2,1,-1}, {0x1f3,0x1f3,1,-2},
        {0x1f5,0x1f5,1,-1}, {0x1f9,0x21f,2,-1}, {0x223,0x233,2,-1}, {0x23c,0x23c,1,-1}, {0x23f,0x240,1,10815},
        {0x242,0x242,1,-1}, {0x247,0x24f,2,-1}, {0x250,0x250,1,10783}, {0x251,0x251,1,10780}, {0x252,0x252,1,10782},
        {0x253,0x253,1,-210}, {0x254,0x254,1,-206}, {0x256,0x257,1,-205}, {0x259,0x259,1,-202}, {0x25b,0x25b,1,-203},
        {0x25c,0x25c,1,42319}, {0x260,0x260,1,-205}, {0x261,0x261,1,42315}, {0x263,0x263,1,-207},
        {0x264,0x264,1,42343}, {0x265,0x265,1,42280}, {0x266,0x266,1,42308}, {0x268,0x268,1,-209},
        {0x269,0x269,1,-211}, {0x26a,0x26a,1,42308}, {0x26b,0x26b,1,10743}, {0x26c,0x26c,1,42305},
        {0x26f,0x26f,1,-211}, {0x271,0x271,1,10749}, {0x272,0x272,1,-213}, {0x275,0x275,1,-214},
        {0x27d,0x27d,1,10727}, {0x280,0x280,1,-218}, {0x282,0x282,1,42307}, {0x283,0x283,1,-218},
        {0x287,0x287,1,42282}, {0x288,0x288,1,-218}, {0x289,0x289,1,-69}, {0x28a,0x28b,1,-217}, {0x28c,0x28c,1,-71},
        {0x292,0x292,1,-219}, {0x29d,0x29d,1,42261}, {0x29e,0x29e,1,42258}, {0x345,0x345,1,84}, {0x371,0x373,2,-1},
        {0x377,0x377,1,-1}, {0x37b,0x37d,1,130}, {0x3ac,0x3ac,1,-38}, {0x3ad,0x3af,1,-37}, {0x3b1,0x3c1,1,-32},
        {0x3c2,0x3c2,1,-31}, {0x3c3,0x3cb,1,-32}, {0x3cc,0x3cc,1,-64}, {0x3cd,0x3ce,1,-63}, {0x3d0,0x3d0,1,-62},
        {0x3d1,0x3d1,1,-57}, {0x3d5,0x3d5,1,-47}, {0x3d6,0x3d6,1,-54}, {0x3d7,0x3d7,1,-8}, {0x3d9,0x3ef,2,-1},
        {0x3f0,0x3f0,1,-86}, {0x3f1,0x3f1,1,-80}, {0x3f2,0x3f2,1,7}, {0x3f3,0x3f3,1,-116}, {0x3f5,0x3f5,1,-96},
        {0x3f8,0x3f8,1,-1}, {0x3fb,0x3fb,1,-1}, {0x430,0x44f,1,-32}, {0x450,0x45f,1,-80}, {0x461,0x481,2,-1},
        {0x48b,0x4bf,2,-1}, {0x4c2,0x4ce,2,-1}, {0x4cf,0x4cf,1,-15}, {0x4d1,0x52f,2,-1}, {0x561,0x586,1,-48},
        {0x10d0,0x10fa,1,3008}, {0x10fd,0x10ff,1,3008}, {0x13f8,0x13fd,1,-8}, {0x1c80,0x1c80,1,-6254},
        {0x1c81,0x1c81,1,-6253}, {0x1c82,0x1c82,1,-6244}, {0x1c83,0x1c84,1,-6242}, {0x1c85,0x1c85,1,-6243},
        {0x1c86,0x1c86,1,-6236}, {0x1c87,0x1c87,1,-6181}, {0x1c88,0x1c88,1,35266}, {0x1c8a,0x1c8a,1,-1},
        {0x1d79,0x1d79,1,35332}, {0x1d7d,0x1d7d,1,3814}, {0x1d8e,0x1d8e,1,35384}, {0x1e01,0x1e95,2,-1},
        {0x1e9b,0x1e9b,1,-59}, {0x1ea1,0x1eff,2,-1}, {0x1f00,0x1f07,1,8}, {0x1f10,0x1f15,1,8}, {0x1f20,0x1f27,1,8},
        {0x1f30,0x1f37,1,8}, {0x1f40,0x1f45,1,8}, {0x1f51,0x1f57,2,8}, {0x1f60,0x1f67,1,8}, {0x1f70,0x1f71,1,74},
        {0x1f72,0x1f75,1,86}, {0x1f76,0x1f77,1,100}, {0x1f78,0x1f79,1,128}, {0x1f7a,0x1f7b,1,112},
        {0x1f7c,0x1f7d,1,126}, {0x1fb0,0x1fb1,1,8}, {0x1fbe,0x1fbe,1,-7205}, {0x1fd0,0x1fd1,1,8}, {0x1fe0,0x1fe1,1,8},
        {0x1fe5,0x1fe5,1,7}, {0x214e,0x214e,1,-28}, {0x2170,0x217f,1,-16}, {0x2184,0x2184,1,-1},
        {0x24d0,0x24e9,1,-26}, {0x2c30,0x2c5f,1,-48}, {0x2c61,0x2c61,1,-1}, {0x2c65,0x2c65,1,-10795},
        {0x2c66,0x2c66,1,-10792}, {0x2c68,0x2c6c,2,-1}, {0x2c73,0x2c73,1,-1}, {0x2c76,0x2c76,1,-1},
        {0x2c81,0x2ce3,2,-1}, {0x2cec,0x2cee,2,-1}, {0x2cf3,0x2cf3,1,-1}, {0x2d00,0x2d25,1,-7264},
        {0x2d27,0x2d27,1,-7264}, {0x2d2d,0x2d2d,1,-7264}, {0xa641,0xa66d,2,-1}, {0xa681,0xa69b,2,-1},
        {0xa723,0xa72f,2,-1}, {0xa733,0xa76f,2,-1}, {0xa77a,0xa77c,2,-1}, {0xa77f,0xa787,2,-1}, {0xa78c,0xa78c,1,-1},
        {0xa791,0xa793,2,-1}, {0xa794,0xa794,1,48}, {0xa797,0xa7a9,2,-1}, {0xa7b5,0xa7c3,2,-1}, {0xa7c8,0xa7ca,2,-1},
        {0xa7cd,0xa7db,2,-1}, {0xa7f6,0xa7f6,1,-1}, {0xab53,0xab53,1,-928}, {0xab70,0xabbf,1,-38864},
        {0xff41,0xff5a,1,-32}, {0x10428,0x1044f,1,-40}, {0x104d8,0x104fb,1,-40}, {0x10597,0x105a1,1,-39},
        {0x105a3,0x105b1,1,-39}, {0x105b3,0x105b9,1,-39}, {0x105bb,0x105bc,1,-39}, {0x10cc0,0x10cf2,1,-64},
        {0x10d70,0x10d85,1,-32}, {0x118c0,0x118df,1,-32}, {0x16e60,0x16e7f,1,-32}, {0x16ebb,0x16ed3,1,-27},
        {0x1e922,0x1e943,1,-34},
    };

    /// <summary>A code point and those that it becomes, in hex.</summary>
    private const string Longer =
        "df 53 53;1f0 4a 30c;390 399 308 301;3b0 3a5 308 301;1e96 48 331;1e97 54 308;1e98 57 30a;1e99 59 30a;" +
        "1f50 3a5 313;1f52 3a5 313 300;1f54 3a5 313 301;1f56 3a5 313 342;1f80 1f08 399;1f81 1f09 399;" +
        "1f82 1f0a 399;1f83 1f0b 399;1f84 1f0c 399;1f85 1f0d 399;1f86 1f0e 399;1f87 1f0f 399;1f88 1f08 399;" +
        "1f89 1f09 399;1f8a 1f0a 399;1f8b 1f0b 399;1f8c 1f0c 399;1f8d 1f0d 399;1f8e 1f0e 399;1f8f 1f0f 399;" +
        "1f90 1f28 399;1f91 1f29 399;1f92 1f2a 399;1f93 1f2b 399;1f94 1f2c 399;1f95 1f2d 399;1f96 1f2e 399;" +
        "1f97 1f2f 399;1f98 1f28 399;1f99 1f29 399;1f9a 1f2a 399;1f9b 1f2b 399;1f9c 1f2c 399;1f9d 1f2d 399;" +
        "1f9e 1f2e 399;1f9f 1f2f 399;1fa0 1f68 399;1fa1 1f69 399;1fa2 1f6a 399;1fa3 1f6b 399;1fa4 1f6c 399;" +
        "1fa5 1f6d 399;1fa6 1f6e 399;1fa7 1f6f 399;1fa8 1f68 399;1fa9 1f69 399;1faa 1f6a 399;1fab 1f6b 399;" +
        "1fac 1f6c 399;1fad 1f6d 399;1fae 1f6e 399;1faf 1f6f 399;1fb2 1fba 399;1fb3 391 399;1fb4 386 399;" +
        "1fb6 391 342;1fb7 391 342 399;1fbc 391 399;1fc2 1fca 399;1fc3 397 399;1fc4 389 399;1fc6 397 342;" +
        "1fc7 397 342 399;1fcc 397 399;1fd2 399 308 300;1fd6 399 342;1fd7 399 308 342;1fe2 3a5 308 300;" +
        "1fe4 3a1 313;1fe6 3a5 342;1fe7 3a5 308 342;1ff2 1ffa 399;1ff3 3a9 399;1ff4 38f 399;1ff6 3a9 342;" +
        "1ff7 3a9 342 399;1ffc 3a9 399;";

    private static readonly Lazy<Dictionary<int, string>> longer = new(ReadLonger);

    /// <summary>The text in upper case.</summary>
    public static string Of(string text)
    {
        var upper = new StringBuilder(text.Length);
        for (var at = 0; at < text.Length; at++)
        {
            var first = text[at];
            if (first < 0x80)
            {
                upper.Append(first is >= 'a' and <= 'z' ? (char)(first - 32) : first);
                continue;
            }
            var isPair = char.IsHighSurrogate(first) && at + 1 < text.Length && char.IsLowSurrogate(text[at + 1]);
            if (char.IsSurrogate(first) && !isPair)
            {
                upper.Append(first);
                continue;
            }
            var point = isPair ? char.ConvertToUtf32(first, text[++at]) : first;
            upper.Append(longer.Value.TryGetValue(point, out var several) ? several : char.ConvertFromUtf32(Single(point)));
        }
        return upper.ToString();
    }

    private static int Single(int point)
    {
        for (var row = 0; row < ranges.GetLength(0); row++)
        {
            if (point < ranges[row, 0] || point > ranges[row, 1]) continue;
            if ((point - ranges[row, 0]) % ranges[row, 2] == 0) return point + ranges[row, 3];
        }
        return point;
    }

    private static Dictionary<int, string> ReadLonger()
    {
        var read = new Dictionary<int, string>();
        foreach (var entry in Longer.Split(new[] { ';' }, StringSplitOptions.RemoveEmptyEntries))
        {
            var points = Array.ConvertAll(entry.Split(' '), hex => Convert.ToInt32(hex, 16));
            var several = new StringBuilder();
            for (var at = 1; at < points.Length; at++) several.Append(char.ConvertFromUtf32(points[at]));
            read[points[0]] = several.ToString();
        }
        return read;
    }
}
