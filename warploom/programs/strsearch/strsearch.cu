// Occurrences of words in texts, by the algorithm of Knuth, Morris and Pratt.

// For each beginning of a word, the length of the longest shorter beginning that it ends with: where a search goes on
// after a mismatch. One thread per word.
extern "C" __global__ void prepare(const unsigned char *__restrict__ words, const int *__restrict__ lengths,
                                   int *__restrict__ links, int pitch, int count)
{
    const int word = blockIdx.x * blockDim.x + threadIdx.x;
    if (word >= count)
        return;
    const unsigned char *letters = words + word * pitch;
    int *link = links + word * pitch;
    link[0] = 0;
    int matched = 0;
    for (int i = 1; i < lengths[word]; i++) {
        while (matched > 0 && letters[i] != letters[matched])
            matched = link[matched - 1];
        matched += letters[i] == letters[matched];
        link[i] = matched;
    }
}

// How often each word occurs in each text. One thread per text: starts[text] .. starts[text + 1] are its letters.
extern "C" __global__ void search(const unsigned char *__restrict__ letters, const int *__restrict__ starts, int texts,
                                  const unsigned char *__restrict__ words, const int *__restrict__ lengths,
                                  const int *__restrict__ links, int pitch, int count, int *__restrict__ found)
{
    const int text = blockIdx.x * blockDim.x + threadIdx.x;
    if (text >= texts)
        return;
    for (int word = 0; word < count; word++) {
        const unsigned char *wanted = words + word * pitch;
        const int *link = links + word * pitch;
        int matched = 0, occurrences = 0;
#pragma unroll 1
        for (int i = starts[text]; i < starts[text + 1]; i++) {
            while (matched > 0 && letters[i] != wanted[matched])
                matched = link[matched - 1];
            matched += letters[i] == wanted[matched];
            if (matched == lengths[word]) {
                occurrences++;
                matched = link[matched - 1];
            }
        }
        found[word * texts + text] = occurrences;
    }
}
