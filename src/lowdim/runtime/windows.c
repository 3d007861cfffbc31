/* What a library without C's own start-up must have on Windows. */

#if defined(_WIN32)

int _fltused = 1; /* compilers ask for it where floating-point numbers are used */

int __stdcall DllMainCRTStartup(void *library, unsigned reason, void *reserved) {
    (void)library, (void)reason, (void)reserved;
    return 1;
}

#else

typedef int nothing_here;

#endif
