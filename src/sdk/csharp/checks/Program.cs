using System;
using Keyledger.Client.Checks;

// vectors DIRECTORY: runs the test vectors. fuzz SECONDS SEED: reads arbitrary bytes.
return args switch
{
    ["vectors", var directory] => Vectors.Run(directory),
    _ => Usage(),
};

static int Usage()
{
    Console.Error.WriteLine("usage: vectors DIRECTORY | fuzz SECONDS SEED | story FILE");
    return 2;
}
