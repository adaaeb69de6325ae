// Nothing: what tests include is precompiled with this file.
